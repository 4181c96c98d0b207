/** Traces as table rows, and as a list on narrow screens. */
import type { JSX } from 'preact'
import { useRef } from 'preact/hooks'
import { meantBy } from '../app/keys.ts'
import { go, link } from '../app/location.ts'
import { Mark, Path } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { exactTime, shortTime } from '../parts/time.ts'
import { Box, NarrowBox, type Selection } from '../selection/selection.tsx'
import { cellsOf, headOf, recipientText } from './trace-cells.tsx'
import { columns, shortColumns } from './columns.ts'
import { useNarrow, useWindowed } from './windowed.ts'
import type { Destination, TraceSummary } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'

interface TraceRowsProps {
  readonly traces: readonly TraceSummary[]
  readonly destinations: readonly Destination[]
  /** Whether the rows have only the columns of a preview. */
  readonly isShort?: boolean
  /** Id of the trace in the panel. */
  readonly selected?: string | undefined
  /** Opens a trace in the panel. Without it, rows link to the trace page. */
  readonly onSelect?: (id: string) => void
  /** Selection by `x` or checkboxes. */
  readonly selection?: Selection<TraceSummary>
}

export function TraceRows(props: TraceRowsProps): JSX.Element {
  return useNarrow() ? <NarrowRows {...props} /> : <WideRows {...props} />
}

function WideRows({ traces, destinations, isShort = false, selected, onSelect, selection }: TraceRowsProps): JSX.Element {
  const w = texts()
  const body = useRef<HTMLTableSectionElement>(null)
  const { start, end, before, behind } = useWindowed(traces.length, body)
  const names = namesOf(destinations)
  const open = (id: string, inFull: boolean): void => (onSelect && !inFull ? onSelect(id) : go(link(`/traces/${id}`)))
  const shown = traces.slice(start, end)
  const first = shown.some(({ trace_id: id }) => id === selected) ? selected : shown[0]?.trace_id
  const cells = cellsOf(isShort ? shortColumns : columns.value)
  const width = cells.length + (selection ? 1 : 0)
  return (
    <table class={isShort ? 'table traces short' : 'table traces'} aria-label={w.traces} aria-rowcount={traces.length + 1}>
      <thead>
        <tr>
          {selection && (
            <th class="c-choose">
              <Box
                label={w.chooseAll}
                isChosen={selection.rows.length === traces.length}
                onToggle={() => selection.setAll(selection.rows.length < traces.length)}
              />
            </th>
          )}
          {cells.map(({ name, class: kind }) => (
            <th key={name} class={kind}>
              {headOf(name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody ref={body}>
        <Room height={before} columns={width} />
        {shown.map((trace, i) => (
          <tr
            key={trace.trace_id}
            data-row={trace.trace_id}
            class={selection?.has(trace.trace_id) ? 'chosen' : ''}
            aria-rowindex={start + i + 2}
            tabIndex={trace.trace_id === first ? 0 : -1}
            aria-selected={onSelect ? selected === trace.trace_id : undefined}
            onClick={(event) => !isInControl(event) && open(trace.trace_id, event.metaKey || event.ctrlKey)}
            onKeyDown={(event) => moveFocus(event, (inFull) => open(trace.trace_id, inFull))}
          >
            {selection && (
              <td class="c-choose">
                <Box {...boxOf(trace, selection)} />
              </td>
            )}
            {cells.map(({ name, class: kind, title, cell }) => (
              <td key={name} class={kind} title={title?.(trace)}>
                {cell(trace, destinationName(trace, names))}
              </td>
            ))}
          </tr>
        ))}
        <Room height={behind} columns={width} />
      </tbody>
    </table>
  )
}

/** Placeholder with the height of rows that are not rendered. */
const Room = ({ height, columns }: { readonly height: number; readonly columns: number }): JSX.Element | null =>
  height <= 0 ? null : (
    <tr aria-hidden="true" class="still room">
      <td colSpan={columns}>
        <svg width="1" height={height} />
      </td>
    </tr>
  )

function NarrowRows({ traces, destinations, selection }: TraceRowsProps): JSX.Element {
  const body = useRef<HTMLUListElement>(null)
  const { start, end, before, behind } = useWindowed(traces.length, body)
  const names = namesOf(destinations)
  return (
    <ul class="rows" ref={body}>
      {before > 0 && <NarrowRoom height={before} />}
      {traces.slice(start, end).map((trace, i) => (
        <li
          key={trace.trace_id}
          data-row={trace.trace_id}
          class={selection ? `choosable${selection.has(trace.trace_id) ? ' chosen' : ''}` : ''}
          aria-setsize={traces.length}
          aria-posinset={start + i + 1}
        >
          {selection && <NarrowBox {...boxOf(trace, selection)} />}
          <NarrowRow trace={trace} destination={destinationName(trace, names)} />
        </li>
      ))}
      {behind > 0 && <NarrowRoom height={behind} />}
    </ul>
  )
}

const NarrowRoom = ({ height }: { readonly height: number }): JSX.Element => (
  <li aria-hidden="true" class="room">
    <svg width="1" height={height} />
  </li>
)

const namesOf = (destinations: readonly Destination[]): ReadonlyMap<string, string> =>
  new Map(destinations.map(({ id, name }) => [id, name]))

const destinationName = ({ destination_id: id }: TraceSummary, names: ReadonlyMap<string, string>): string | undefined =>
  id === null ? undefined : (names.get(id) ?? texts().gone)

const isInControl = ({ target }: Event): boolean => target instanceof Element && target.closest('a, label, input') !== null

const boxOf = (trace: TraceSummary, { has, toggle }: Selection<TraceSummary>) => ({
  label: texts().choose({ name: `${plain(trace.subject || texts().noSubject)}, ${recipientText(trace)}` }),
  isChosen: has(trace.trace_id),
  onToggle: () => toggle(trace.trace_id),
})

/** Arrow keys, `j` and `k` move between rows, and Enter opens a row. */
function moveFocus(event: KeyboardEvent, open: (inFull: boolean) => void): void {
  if (event.target !== event.currentTarget && event.key === 'Enter') return // Enter belongs to a checkbox in the row
  const row = event.currentTarget as HTMLElement
  const isPlain = !event.metaKey && !event.ctrlKey
  const key = meantBy(event.key)
  const isDown = isPlain && (key === 'j' || event.key === 'ArrowDown')
  const isUp = isPlain && (key === 'k' || event.key === 'ArrowUp')
  if (!isDown && !isUp && event.key !== 'Enter') return
  event.preventDefault()
  event.stopPropagation()
  if (event.key === 'Enter') return open(event.metaKey || event.ctrlKey)
  const next = isDown ? row.nextElementSibling : row.previousElementSibling
  if (next instanceof HTMLElement) next.focus()
}

interface RowProps {
  readonly trace: TraceSummary
  readonly destination: string | undefined
}

const NarrowRow = ({ trace, destination = '' }: RowProps): JSX.Element => (
  <a href={link(`/traces/${trace.trace_id}`)}>
    <Mark name={trace.status} />
    <b class="cut">
      <SafeText text={recipientText(trace)} />
    </b>
    <time datetime={trace.created_at} title={exactTime(trace.created_at)}>
      {shortTime(trace.created_at, true)}
    </time>
    <span class="over">
      <SafeText text={trace.subject || texts().noSubject} />
    </span>
    <span class="over second">
      {trace.status.replaceAll('_', ' ')} <SafeText text={destination} />
    </span>
    <span class="right">
      <Path trace={trace} />
    </span>
  </a>
)
