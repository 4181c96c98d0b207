/** A form in a frame tells the page around it how high it is. */
import { boundedHeight, frameMessage, type FrameMessage } from './frame-messages.ts'

export class FramedPage {
  readonly #id: string
  /** Known once the page around has asked; before that, heights may be read by any. */
  #target = '*'
  #height = 0

  /** `origins` may ask; none is any. */
  constructor(id: string, origins: readonly string[]) {
    this.#id = id
    addEventListener('message', ({ source, origin, data }) => {
      const isAllowed = source === parent && (origins.length === 0 || origins.includes(origin))
      if (!isAllowed || frameMessage(data)?.event !== 'ask') return
      this.#target = origin
      this.#measure(true)
    })
    addEventListener('focus', () => this.say('focus'))
    new ResizeObserver(() => requestAnimationFrame(() => this.#measure(false))).observe(document.body)
  }

  say(event: FrameMessage['event']): void {
    this.#post({ event })
  }

  #measure(isAsked: boolean): void {
    const height = boundedHeight(document.body.getBoundingClientRect().height)
    if (height === this.#height && !isAsked) return
    this.#height = height
    this.#post({ event: 'height', height })
  }

  #post(message: Pick<FrameMessage, 'event' | 'height'>): void {
    parent.postMessage({ type: 'svc:form', v: 1, id: this.#id, ...message } satisfies FrameMessage, this.#target)
  }
}
