/**
 * Embeds forms in pages of other sites. `<div data-svc-form="…">` becomes the form, and a frame with a form gets its height. Such a page
 * loads only this script, which loads everything else from its own origin.
 */
import { EmbeddedFrame } from './embedded-frame.ts'
import { inline } from './inline.ts'
import { placeOf } from './place.ts'
import { popup } from './popup.ts'

const marked = 'data-svc-form'
const src = document.currentScript instanceof HTMLScriptElement ? document.currentScript.src : ''
const origin = URL.parse(src)?.origin
const started = new WeakSet<Element>()

function start(element: Element): void {
  if (origin === undefined || started.has(element)) return
  if (element instanceof HTMLIFrameElement) {
    const address = URL.parse(element.src)
    const id = address?.origin === origin ? /^\/f\/(\w+)$/.exec(address.pathname)?.[1] : undefined
    if (id === undefined) return
    started.add(element)
    new EmbeddedFrame(element, id, element)
  } else if (element instanceof HTMLElement && element.hasAttribute(marked)) {
    started.add(element)
    const place = placeOf(element, origin)
    if (place.mode === 'inline') void inline(place)
    else popup(place)
  }
}

const selector = `[${marked}], iframe[src*="/f/"]`

function startWithin(root: ParentNode): void {
  for (const element of root.querySelectorAll(selector)) start(element)
}

startWithin(document)
new MutationObserver((changes) => {
  for (const { addedNodes } of changes)
    for (const node of addedNodes)
      if (node instanceof Element) {
        if (node.matches(selector)) start(node)
        startWithin(node)
      }
}).observe(document.documentElement, { childList: true, subtree: true })
