/** A frame with a form, kept at the height of the form. It accepts messages only from its own frame and the origin of the form. */
import { frameMessage, type FrameMessage } from '../client/frame-messages.ts'
import { announce } from './place.ts'

const eventNames: Readonly<Partial<Record<FrameMessage['event'], string>>> = {
  ...{ step: 'step', submitted: 'submit', error: 'error', focus: 'focus' },
}

export class EmbeddedFrame {
  readonly #frame: HTMLIFrameElement
  readonly #id: string
  readonly #origin: string
  /** Target of the events. */
  readonly #element: Element
  #isReady = false

  constructor(frame: HTMLIFrameElement, id: string, element: Element) {
    this.#frame = frame
    this.#id = id
    this.#element = element
    this.#origin = new URL(frame.src).origin
    addEventListener('message', ({ source, origin, data }) => {
      if (source !== frame.contentWindow || origin !== this.#origin) return
      const message = frameMessage(data)
      if (message?.id === id) this.#take(message)
    })
    frame.addEventListener('load', () => this.#ask())
    this.#ask()
  }

  #ask(): void {
    const message: FrameMessage = { type: 'svc:form', v: 1, id: this.#id, event: 'ask' }
    this.#frame.contentWindow?.postMessage(message, this.#origin)
  }

  #take({ event, height }: FrameMessage): void {
    if (event === 'height') {
      Object.assign(this.#frame.style, { border: '0', width: '100%', minHeight: '0', height: `${String(height)}px` })
      if (!this.#isReady) announce(this.#element, 'ready', { form: this.#id })
      this.#isReady = true
      return
    }
    const name = eventNames[event]
    if (name !== undefined) announce(this.#element, name, { form: this.#id })
    const isBegunAnew = event === 'step' || event === 'submitted'
    if (isBegunAnew && this.#frame.getBoundingClientRect().top < 0) this.#frame.scrollIntoView({ block: 'start' })
  }
}

/** Returns the form in a frame, if it cannot be part of the page itself. */
export function frameFor(
  { origin, id, query, element }: { origin: string; id: string; query: URLSearchParams; element: Element },
  title: string,
): HTMLIFrameElement {
  const frame = document.createElement('iframe')
  const search = new URLSearchParams([...query, ['embed', '1']])
  frame.src = `${origin}/f/${encodeURIComponent(id)}?${search.toString()}`
  frame.title = title
  frame.style.cssText = 'width:100%;border:0;min-height:480px;color-scheme:auto'
  new EmbeddedFrame(frame, id, element)
  return frame
}
