/** Events as they stand in a plot, its table and its file. */
import type { PlotEvent } from '../insights/drawing.ts'
import { momentLabel } from '../insights/time-range.ts'

type Labelled = PlotEvent & { readonly label: string }

interface Steps {
  readonly times: readonly number[]
  readonly stepMs: number
}

/** Those of the time that a plot shows, each with when it was. */
export function eventLabels(events: readonly PlotEvent[], { times, stepMs }: Steps): readonly Labelled[] {
  const begin = times[0] ?? 0
  const spanMs = times.length * stepMs
  const shown = events.filter(({ at }) => at >= begin && at < begin + spanMs)
  return shown.map((event) => ({ ...event, label: `${momentLabel(event.at, spanMs)} ${event.text}` }))
}

/** Those of one step. */
export const eventsIn = <E extends PlotEvent>(events: readonly E[], time: number, stepMs: number): readonly E[] =>
  events.filter(({ at }) => at >= time && at < time + stepMs)
