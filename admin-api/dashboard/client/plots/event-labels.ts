/** Events of a plot with labels, for its picture, table and file. */
import type { PlotEvent } from '../insights/drawing.ts'
import { momentLabel } from '../insights/time-range.ts'

type Labelled = PlotEvent & { readonly label: string }

interface Steps {
  readonly times: readonly number[]
  readonly stepMs: number
}

/** Returns the events within the plot, each labeled with its time. */
export function eventLabels(events: readonly PlotEvent[], { times, stepMs }: Steps): readonly Labelled[] {
  const begin = times[0] ?? 0
  const spanMs = times.length * stepMs
  const shown = events.filter(({ at }) => at >= begin && at < begin + spanMs)
  return shown.map((event) => ({ ...event, label: `${momentLabel(event.at, spanMs)} ${event.text}` }))
}

export const eventsIn = <E extends PlotEvent>(events: readonly E[], time: number, stepMs: number): readonly E[] =>
  events.filter(({ at }) => at >= time && at < time + stepMs)
