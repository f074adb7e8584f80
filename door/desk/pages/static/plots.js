// Draws each figure of class "plot" from the table in it. Without this script the tables are there.
// Drag to zoom, double click to see all again. A click on a point follows its link in the table.

import uPlot from "/static/vendored/uPlot.js";

const COLOURS = ["--first", "--second", "--third", "--fourth", "--fifth", "--sixth"];
const HEIGHT = 280;
const NEAR = 20; // pixels from a point that a click may miss it by
const LETTER = 7; // pixels that a letter at an axis takes
const [LINEAR, LOGARITHMS, ASINH] = [1, 3, 4]; // uPlot's numbers of scales
const DAY = 86400;
const DAY_STEPS = [1, 2, 7, 14, 28, 91, 182, 365, 730];

const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// The head and the rows of a table as cells, without the cells of the first column.
function columnsOf(table) {
  const rows = [...table.tBodies[0].rows];
  return [...table.tHead.rows[0].cells].slice(1).map((head, index) => {
    const cells = rows.map((row) => row.cells[index + 1]);
    return { label: head.textContent.trim(), drawn: head.dataset.drawn, cells };
  });
}

function axisName(place, axis) {
  if (axis === "hour") return `${String(place).padStart(2, "0")}:00`;
  if (axis === "staked") return minutes(place);
  // The day of a month as 11-24; the year where one begins.
  const day = new Date(place * 1000).toISOString().slice(0, 10);
  return day.endsWith("01-01") ? day.slice(0, 4) : day.slice(5);
}

const minutes = (number) => (number === null ? "" : `${number.toLocaleString("en")} min`);

// How many pixels an axis needs for what is written at it.
function widthOf(_, written) {
  return 25 + LETTER * Math.max(4, ...(written ?? []).map((each) => String(each).length));
}

function draw(figure) {
  const { axis, unit } = figure.dataset;
  const table = figure.querySelector("table");
  const columns = columnsOf(table);
  const names = [...table.tBodies[0].rows].map((row) => row.cells[0]);
  const data = [names, ...columns.map(({ cells }) => cells)].map((cells, index) =>
    cells.map(({ dataset }) => Number(index ? dataset.value : dataset.place)),
  );
  const ink = styleOf("--quiet");
  const grid = { stroke: styleOf("--line"), width: 1 };
  const bands = [];
  const series = columns.map(({ label, drawn, cells }, number) => {
    const value = (_, each, __, row) => (row === null ? "" : cells[row].textContent.trim());
    if (drawn === "low" || drawn === "high") {
      if (drawn === "low") bands.push({ series: [number + 2, number + 1], fill: styleOf("--band") });
      return { label, value, width: 1, stroke: styleOf("--band-edge"), points: { show: false } };
    }
    const stroke = styleOf(COLOURS[number % COLOURS.length]);
    const dash = number >= COLOURS.length ? [6, 4] : undefined;
    const paths = { bars: uPlot.paths.bars({ size: [0.7, 60] }), points: () => null }[drawn];
    const points = { show: drawn === "points" || (drawn === "line" && data[0].length < 40), size: 7 };
    return { label, value, stroke, dash, paths, points, width: 2, fill: drawn === "bars" ? stroke : undefined };
  });
  const place = { label: table.tHead.rows[0].cells[0].textContent, value: (_, __, ___, row) => (row === null ? "" : names[row].textContent) };
  const place_axis = { stroke: ink, grid, ticks: grid, values: (_, all) => all.map((each) => axisName(each, axis)) };
  if (axis === "day") place_axis.incrs = DAY_STEPS.map((days) => days * DAY);
  const box = document.createElement("div");
  const plot = new uPlot(
    {
      width: figure.clientWidth,
      height: HEIGHT,
      tzDate: (second) => uPlot.tzDate(new Date(second * 1000), "Etc/UTC"),
      padding: [null, 6 * LETTER, null, null],
      scales: {
        x: { time: axis === "day", distr: axis === "staked" ? LOGARITHMS : LINEAR },
        y: { distr: axis === "staked" ? ASINH : LINEAR, asinh: 10, range: axis === "hour" ? (_, __, most) => [0, most || 1] : undefined },
      },
      series: [place, ...series],
      bands,
      axes: [
        place_axis,
        { stroke: ink, grid, ticks: grid, size: widthOf, values: (_, all) => all.map((each) => (unit === "minutes" ? minutes(each) : each)) },
      ],
    },
    data,
    box,
  );
  plot.over.addEventListener("click", () => linkAt(plot, names, columns)?.click());
  figure.prepend(box);
  return plot;
}

// The link of the point near the pointer: that of its number, or of its row.
function linkAt(plot, names, columns) {
  const { idx, left, top } = plot.cursor;
  if (idx === null || Math.abs(plot.valToPos(plot.data[0][idx], "x") - left) > NEAR) return null;
  const away = columns.map((_, index) => Math.abs(plot.valToPos(plot.data[index + 1][idx], "y") - top));
  const nearest = away.indexOf(Math.min(...away));
  if (away[nearest] > NEAR) return null;
  return columns[nearest].cells[idx].querySelector("a") ?? names[idx].querySelector("a");
}

let plots = [];

function drawAll() {
  for (const { plot, figure } of plots) {
    plot.destroy();
    figure.firstElementChild.remove();
  }
  plots = [];
  for (const figure of document.querySelectorAll("figure.plot")) {
    const plot = draw(figure);
    if (plot) plots.push({ plot, figure });
  }
}

drawAll();
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAll);
addEventListener("resize", () => {
  for (const { plot, figure } of plots) plot.setSize({ width: figure.clientWidth, height: HEIGHT });
});
