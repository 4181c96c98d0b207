/** What an ellipsis cuts stands in the title once the pointer is over it, where the screen gives none of its own. */
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
