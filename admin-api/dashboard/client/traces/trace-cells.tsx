/** Columns of the trace list and their cells. */
import type { ComponentChildren, JSX } from 'preact'
import { link } from '../app/location.ts'
import { projects } from '../app/projects.ts'
import { Path, Status } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { number, shortTime, span } from '../parts/time.ts'
import type { TraceSummary } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import type { ColumnName } from './columns.ts'
import { texts as ownTexts } from './traces-texts.ts'

type CellName = ColumnName | 'time' | 'status' | 'subject'

interface Cell {
  readonly name: CellName
  readonly class?: string
  readonly title?: (trace: TraceSummary) => string
  readonly cell: (trace: TraceSummary, destination: string | undefined) => ComponentChildren
}

/** Formats `captured · sandbox`. */
const outcomeText = (outcome: string): string =>
  outcome.replace('captured.', 'captured · ').replace('_destination', '').replace('_project', '').replaceAll('_', ' ')

export const recipientText = ({ to }: Pick<TraceSummary, 'to'>): string =>
  to.length > 1 ? `${to[0] ?? ''} ${texts().andMore({ count: to.length - 1 })}` : (to[0] ?? '')

/** Returns the time from acceptance to the last change, or that the message is waiting or scheduled. */
function tookText({ status, created_at: from, updated_at: until, outcome, send_at: sendAt }: TraceSummary): string {
  if (status === 'queued' || status === 'pending') return sendAt === null ? texts().waits : texts().planned
  return outcome === 'relayed' ? span(Date.parse(until) - Date.parse(from)) : '–'
}

const safe = (text: string | undefined): JSX.Element | string => (text === undefined ? '–' : <SafeText text={text} />)
const nameOfProject = ({ project_id: id }: TraceSummary): string => projects.value.find((one) => one.id === id)?.name ?? id

const all: readonly Cell[] = [
  {
    name: 'time',
    class: 'c-time',
    cell: ({ created_at: at }) => (
      <time datetime={at} title={at}>
        {shortTime(at)}
      </time>
    ),
  },
  { name: 'status', class: 'c-status', cell: ({ status }) => <Status name={status} /> },
  { name: 'path', class: 'c-path', cell: (trace) => <Path trace={trace} /> },
  { name: 'outcome', class: 'c-outcome', cell: ({ outcome }) => outcomeText(outcome) },
  { name: 'from', title: ({ from, mail_from: sender }) => plain(from || sender), cell: (trace) => safe(trace.from || trace.mail_from) },
  { name: 'to', class: 'strong', title: ({ to }) => plain(to.join(', ')), cell: (trace) => safe(recipientText(trace)) },
  {
    name: 'subject',
    title: ({ subject }) => plain(subject),
    cell: (trace) => (
      <a href={link(`/traces/${trace.trace_id}`)} tabIndex={-1}>
        <SafeText text={trace.subject || texts().noSubject} />
      </a>
    ),
  },
  { name: 'template', class: 'c-destination', cell: ({ template }) => safe(template?.slug) },
  { name: 'destination', class: 'c-destination', cell: (_, destination) => safe(destination) },
  { name: 'project', class: 'c-destination', cell: (trace) => safe(nameOfProject(trace)) },
  { name: 'door', class: 'c-outcome', cell: ({ door }) => door.replaceAll('_', ' ') },
  { name: 'attempts', class: 'c-took num', cell: ({ attempts }) => number(attempts) },
  { name: 'size', class: 'c-took num', cell: ({ size }) => `${number(Math.ceil(size / 1024))} KiB` },
  { name: 'took', class: 'c-took num', cell: tookText },
]

export const cellsOf = (chosen: ReadonlySet<ColumnName>): readonly Cell[] =>
  all.filter(({ name }) => name === 'time' || name === 'status' || name === 'subject' || chosen.has(name))

export function headOf(name: CellName): string {
  const w = texts()
  if (name === 'time' || name === 'status' || name === 'subject') return w[name]
  return ownTexts().column[name]
}
