// xterm.js writes style elements, which the page's policy does not let in: it allows no style but
// that of its files. What such an element would say goes into a sheet that a script may make.

const create = document.createElement.bind(document);

document.createElement = (name, options) => {
    if (String(name).toLowerCase() !== "style") {
        return create(name, options);
    }
    const element = create("template"); // shows nothing, wherever it is put
    divert(element);
    return element;
};

function divert(element) {
    const sheet = new CSSStyleSheet();
    let text = "";
    document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
    Object.defineProperty(element, "textContent", {
        get: () => text,
        set: (said) => {
            text = String(said);
            sheet.replaceSync(text);
        },
    });
    element.remove = () => {
        document.adoptedStyleSheets = document.adoptedStyleSheets.filter((each) => each !== sheet);
        Element.prototype.remove.call(element);
    };
}
