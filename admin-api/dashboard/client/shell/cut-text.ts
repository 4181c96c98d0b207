/** Shows text that an ellipsis cuts off in a tooltip while the pointer is over it. Existing tooltips have priority. */
const ours = new WeakSet<HTMLElement>()

export function showCutText(): void {
  document.addEventListener('pointerover', ({ target }) => {
    const text = target instanceof Element ? target.closest<HTMLElement>('.cut, .over, td') : null
    if (!text || (text.closest('[title]') && !ours.has(text))) return
    if (text.scrollWidth > text.clientWidth) text.title = text.innerText
    else text.removeAttribute('title')
    ours.add(text)
  })
}
