// Draws each figure of class "plot" from the table in it. Without this script the tables are there.
// Drag to zoom, double click to see all again; or use the buttons.

import uPlot from "/static/vendored/uPlot.js";

const COLOURS = ["--first", "--second", "--third", "--fourth", "--fifth", "--sixth"];
const ZOOM = 1.6;
const HEIGHT = 280;
const LETTER = 7; // pixels that a letter at an axis takes
const DAY = 86400;
const DAY_STEPS = [1, 2, 7, 14, 28, 91, 182, 365, 730];

const styleOf = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function numbersOf(table) {
  const names = [...table.tHead.rows[0].cells].slice(1).map((cell) => cell.textContent.trim());
  const rows = [...table.tBodies[0].rows];
  const places = rows.map((row) => Number(row.cells[0].dataset.place));
  const columns = names.map((_, column) =>
    rows.map((row) => {
      const written = row.cells[column + 1].dataset.value;
      return written === "" ? null : Number(written);
    }),
  );
  return { names, data: [places, ...columns] };
}

function shown(number, unit) {
  if (number === null || number === undefined) return "";
  if (unit !== "minutes") return String(number);
  const seconds = Math.round(Math.abs(number) * 60);
  const pair = (each) => String(each).padStart(2, "0");
  const hours = Math.floor(seconds / 3600);
  return `${number < 0 ? "-" : ""}${hours}:${pair(Math.floor(seconds / 60) % 60)}:${pair(seconds % 60)}`;
}

function axisName(place, axis) {
  if (place === null || place === undefined) return "";
  if (axis === "hour") return `${String(place).padStart(2, "0")}:00`;
  return new Date(place * 1000).toISOString().slice(0, 10);
}

// The day of a month as 11-24; the year where one begins.
function shortDay(place) {
  const day = axisName(place, "day");
  return day.endsWith("01-01") ? day.slice(0, 4) : day.slice(5);
}

// How many pixels an axis needs for what is written at it.
function widthOf(_, written) {
  return 25 + LETTER * Math.max(4, ...(written ?? []).map((each) => String(each).length));
}

function draw(figure) {
  const { kind, axis, unit } = figure.dataset;
  const { names, data } = numbersOf(figure.querySelector("table"));
  if (!names.length || !data[0].length) return null;
  const ink = styleOf("--quiet");
  const grid = { stroke: styleOf("--line"), width: 1 };
  const series = names.map((label, number) => {
    const stroke = styleOf(COLOURS[number % COLOURS.length]);
    const dash = number >= COLOURS.length ? [6, 4] : undefined;
    const bars = kind === "bars" ? uPlot.paths.bars({ size: [0.7, 60] }) : undefined;
    const points = { show: data[0].length < 40 && kind !== "bars" };
    const value = (_, each) => shown(each, unit);
    return { label, stroke, dash, width: 2, paths: bars, points, value, fill: bars && stroke };
  });
  const place = { label: axis === "hour" ? "Hour" : "Day", value: (_, each) => axisName(each, axis) };
  const place_axis = { stroke: ink, grid, ticks: grid };
  place_axis.values = (_, all) => all.map((each) => (axis === "hour" ? axisName(each, axis) : shortDay(each)));
  if (axis === "day") place_axis.incrs = DAY_STEPS.map((days) => days * DAY);
  const box = document.createElement("div");
  const plot = new uPlot(
    {
      width: figure.clientWidth,
      height: HEIGHT,
      tzDate: (second) => uPlot.tzDate(new Date(second * 1000), "Etc/UTC"),
      scales: { x: { time: axis === "day" }, y: { range: kind === "bars" ? (_, __, most) => [0, most || 1] : undefined } },
      series: [place, ...series],
      axes: [
        place_axis,
        { stroke: ink, grid, ticks: grid, size: widthOf, values: (_, all) => all.map((each) => (unit === "minutes" ? `${each.toLocaleString("en")} min` : each)) },
      ],
    },
    data,
    box,
  );
  figure.prepend(box);
  figure.insertBefore(buttons(plot, figure, data[0]), figure.querySelector("details"));
  return plot;
}

// Zoom by keyboard, or without a mouse that drags.
function buttons(plot, figure, places) {
  const ends = [places[0], places[places.length - 1]];
  const zoom = (factor, move) => {
    const { min, max } = plot.scales.x;
    const half = ((max - min) / 2) * factor;
    const middle = (min + max) / 2 + move * (max - min);
    plot.setScale("x", { min: Math.max(ends[0], middle - half), max: Math.min(ends[1], middle + half) });
  };
  const row = document.createElement("p");
  row.className = "zoom";
  const name = document.getElementById(figure.getAttribute("aria-labelledby")).textContent;
  for (const [words, act] of [
    ["Closer", () => zoom(1 / ZOOM, 0)],
    ["Farther", () => zoom(ZOOM, 0)],
    ["Earlier", () => zoom(1, -0.3)],
    ["Later", () => zoom(1, 0.3)],
    ["All", () => plot.setScale("x", { min: ends[0], max: ends[1] })],
  ]) {
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = words;
    button.setAttribute("aria-label", `${words}: ${name}`);
    button.addEventListener("click", act);
    row.append(button);
  }
  return row;
}

let plots = [];

function drawAll() {
  for (const { plot, figure } of plots) {
    plot.destroy();
    figure.querySelector(".zoom").remove();
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
