// The entry of this page may be far down in the list of pages: bring it into view.
addEventListener("load", () => {
    const list = document.querySelector(".sidebar-scroll");
    const entry = document.querySelector(".sidebar-tree .current-page > .reference");
    if (list && entry) {
        list.scrollTop += entry.getBoundingClientRect().top - list.getBoundingClientRect().top - list.clientHeight / 2;
    }
});
