/** List of inboxes with message counts and the time of the latest message, and the remaining quota of the month. */
import type { JSX } from 'preact'
import { useAll, type AllRows } from '../app/all.ts'
import { link, projectId } from '../app/location.ts'
import { homeProject, projects } from '../app/projects.ts'
import { countUnread, markAllRead, unreadSince } from './unread.ts'
import { Gauge } from '../parts/controls.tsx'
import { Newest } from '../selection/newest.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { longTime, month, number, shortTime } from '../parts/time.ts'
import type { Inbox, InboxFigures } from '../wire/api.d.ts'
import { texts } from '../texts/texts.ts'
import { texts as own } from './captures-texts.ts'

const refreshMs = 15_000

export function Inboxes({ inboxes, chosen }: { readonly inboxes: AllRows<Inbox>; readonly chosen: string }): JSX.Element {
  const w = texts()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const figures = useAll('/v1/inboxes/figures', { query: { ...project, since: unreadSince() } }, { every: refreshMs })
  const isAnyNew = figures.rows.some((one) => newIn(one) > 0)
  const byInbox = new Map(figures.rows.map((one) => [one.inbox_id, one]))
  const home = homeProject()
  const cap = home?.monthly_capture_cap ?? null
  return (
    <nav class="inboxes" aria-label={w.inboxes}>
      <ul>
        {inboxes.rows.map(({ id, name, address_pattern: pattern, project_id: owner }) => (
          <li key={id}>
            <a href={link(`/captures/${id}`)} aria-current={id === chosen ? 'true' : undefined}>
              <b class="cut">
                <SafeText text={name} />
              </b>
              <Count figures={byInbox.get(id)} />
              <code class="cut">{pattern}</code>
              <Latest figures={byInbox.get(id)} />
              {projectId.value === undefined && projects.value.length > 1 && <ProjectOf id={owner} />}
            </a>
          </li>
        ))}
      </ul>
      <Newest of={inboxes} />
      {isAnyNew && (
        <button class="button quiet small" onClick={markAllRead}>
          {own().markAllRead}
        </button>
      )}
      {home && (
        <div class="captured-count">
          <span>{w.capturesIn({ month: month() })}</span>
          <b>{number(home.captures_this_month)}</b>
          {cap !== null && (
            <>
              <Gauge used={home.captures_this_month} limit={cap} />
              <p class="faint">{w.capturesLeft({ left: number(Math.max(0, cap - home.captures_this_month)), cap: number(cap) })}</p>
            </>
          )}
        </div>
      )}
    </nav>
  )
}

/** Name of the project. Each project has a catch-all inbox with the same name. */
const ProjectOf = ({ id }: { readonly id: string }): JSX.Element => (
  <small class="cut faint">
    <SafeText text={projects.value.find((one) => one.id === id)?.name ?? id} />
  </small>
)

interface FiguresProps {
  readonly figures: InboxFigures | undefined
}

/** Highest number of new trace ids that the API returns for an inbox. */
const mostNew = 20
const newIn = ({ inbox_id: id, new_trace_ids: ids }: InboxFigures): number => countUnread(ids, id)

/** Number of unread messages, else the number of all messages. */
function Count({ figures }: FiguresProps): JSX.Element | null {
  if (!figures) return null
  const fresh = newIn(figures)
  if (fresh > 0) return <span class="inbox-count new">{own().newIn({ count: number(fresh) + (fresh >= mostNew ? '+' : '') })}</span>
  const shown = number(figures.messages) + (figures.has_more ? '+' : '')
  return (
    <span class="inbox-count">
      {shown} <span class="hidden">{own().messagesIn}</span>
    </span>
  )
}

const Latest = ({ figures }: FiguresProps): JSX.Element | null =>
  figures?.last_message_at ? (
    <time class="faint" datetime={figures.last_message_at} title={`${own().latest} ${longTime(figures.last_message_at)}`}>
      {shortTime(figures.last_message_at, true)}
    </time>
  ) : null
