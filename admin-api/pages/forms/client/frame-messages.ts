/** Messages between a framed form and the page around it. They never contain answers. */

export interface FrameMessage {
  readonly type: 'svc:form'
  readonly v: 1
  /** The public id of the form. */
  readonly id: string
  readonly event: 'height' | 'step' | 'submitted' | 'focus' | 'error' | 'ask'
  readonly height?: number
}

const bounds = { least: 120, most: 8000, step: 8 } as const

export const boundedHeight = (pixels: number): number =>
  Math.min(bounds.most, Math.max(bounds.least, Math.ceil(pixels / bounds.step) * bounds.step))

const events: ReadonlySet<unknown> = new Set(['height', 'step', 'submitted', 'focus', 'error', 'ask'])

/** Returns undefined for any other message. */
export function frameMessage(data: unknown): FrameMessage | undefined {
  if (typeof data !== 'object' || data === null) return undefined
  const { type, v, id, event, height } = data as Readonly<Record<string, unknown>>
  const isOurs = type === 'svc:form' && v === 1 && typeof id === 'string' && events.has(event)
  const isBounded = event !== 'height' || (Number.isInteger(height) && boundedHeight(height as number) === height)
  return isOurs && isBounded ? (data as FrameMessage) : undefined
}
