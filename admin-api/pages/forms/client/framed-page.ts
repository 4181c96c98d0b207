/** Reports the height of a framed form to the page around it. */
import { boundedHeight, frameMessage, type FrameMessage } from './frame-messages.ts'

export class FramedPage {
  readonly #id: string
  /** Origin of the page around, known after its first message. Until then, any page may read the height. */
  #target = '*'
  #height = 0

  /** `origins` may send messages; empty allows all. */
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
