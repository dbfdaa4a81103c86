// Draws the diagrams of a page; mermaid.min.js stands before it. On a phone a diagram is scrolled, not made illegible.
const READABLE = 700;
mermaid.initialize({ startOnLoad: false, theme: "neutral" });
mermaid.run().then(() => {
    for (const drawn of document.querySelectorAll("pre.mermaid > svg")) {
        drawn.style.minWidth = `${Math.min(READABLE, parseFloat(drawn.style.maxWidth))}px`;
    }
});
