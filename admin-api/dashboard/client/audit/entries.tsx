/** Entries of a log with filters, and the details of one entry. */
import type { JSX } from 'preact'
import { go, linkHere, query } from '../app/location.ts'
import type { Listing } from '../app/query.ts'
import { CopyButton, Dialog } from '../parts/controls.tsx'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { exactTime, longTime, shortTime } from '../parts/time.ts'
import type { AuditEntry } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts } from './audit-texts.ts'
import { FilterForm } from './filter-form.tsx'
import { filterHere, isFiltered } from './filter.ts'

interface EntriesProps {
  readonly list: Listing<AuditEntry>
  /** Known names of actors by id. */
  readonly actors: ReadonlyMap<string, string>
  readonly projects: ReadonlyMap<string, string>
}

type Names = ReadonlyMap<string, string>

const actorOf = ({ actor: { kind, id } }: AuditEntry, actors: Names): string =>
  id === '' ? kind : `${kind.replaceAll('_', ' ')} ${actors.get(id) ?? id}`

const shown = (value: unknown): string => (typeof value === 'string' ? value : JSON.stringify(value))

/** Returns the changed fields by their API names. */
const detailsOf = ({ details }: AuditEntry): string =>
  Object.entries(details)
    .filter(([name]) => name !== 'name' && name !== 'before' && name !== 'after')
    .map(([name, value]) => `${name} ${Array.isArray(value) ? value.map(shown).join(', ') : shown(value)}`)
    .join(' · ')

const targetOf = ({ details, target }: AuditEntry, names: Names): string =>
  typeof details['name'] === 'string' ? details['name'] : (names.get(target) ?? target)

/** The target of an entry: its name, or its id in code style. */
const Target = ({ entry: { target }, name }: { readonly entry: AuditEntry; readonly name: string }): JSX.Element =>
  /^[a-z]{2,4}_\w+$/.test(name) ? <code title={target}>{name}</code> : <span title={target}>{plain(name)}</span>

const isNotAllowed = ({ read }: Listing<AuditEntry>): boolean => read.state === 'failed' && read.fault.code === 'insufficient_scope'

export function Entries({ list, actors, projects }: EntriesProps): JSX.Element {
  const w = texts()
  const filter = filterHere()
  const opened = list.read.data?.find(({ id }) => id === query.value.get('entry'))
  const close = (): void => go(linkHere({ entry: '' }), { replaces: true })
  return (
    <>
      {!isNotAllowed(list) && <FilterForm filter={filter} actors={actors} />}
      <List
        label={w.title}
        list={list}
        failure={w.failed}
        keyOf={({ id }) => id}
        open={({ id }) => linkHere({ entry: id })}
        empty={
          isFiltered(filter) ? (
            <State title={w.nothingMatches} text={w.nothingMatchesText} drawing={<Icon name="search" />} />
          ) : (
            <State title={w.empty} text={w.emptyText} />
          )
        }
        columns={[
          {
            head: w.time,
            class: 'c-status',
            cell: ({ at }) => (
              <time datetime={at} title={exactTime(at)}>
                {shortTime(at)}
              </time>
            ),
          },
          {
            head: w.act,
            class: 'c-act strong',
            cell: ({ id, act }) => (
              <a href={linkHere({ entry: id })}>
                <code>{act}</code>
              </a>
            ),
          },
          { head: w.actor, class: 'c-actor', cell: (entry) => <span title={entry.actor.id}>{plain(actorOf(entry, actors))}</span> },
          { head: w.target, class: 'c-actor', cell: (entry) => <Target entry={entry} name={targetOf(entry, actors)} /> },
          { head: w.details, cell: (entry) => <code title={plain(detailsOf(entry))}>{plain(detailsOf(entry))}</code> },
        ]}
        narrow={(entry) => [
          <Mark name="none" />,
          <code>{entry.act}</code>,
          `${plain(actorOf(entry, actors))} · ${plain(targetOf(entry, actors))}`,
          shortTime(entry.at, true),
        ]}
      />
      {opened && <Entry entry={opened} actors={actors} projects={projects} onClose={close} />}
    </>
  )
}

interface EntryProps extends Omit<EntriesProps, 'list'> {
  readonly entry: AuditEntry
  readonly onClose: () => void
}

function Entry({ entry, actors, projects, onClose }: EntryProps): JSX.Element {
  const w = texts()
  const { at, actor, address, act, target, project_id: project, details } = entry
  const { before, after, ...rest } = details
  const text = JSON.stringify(rest, undefined, 2)
  return (
    <Dialog title={w.entry} onClose={onClose}>
      <div>
        <h2>
          <code>{act}</code>
        </h2>
        <dl class="facts audit-facts">
          <dt>{w.time}</dt>
          <dd>
            {longTime(at)}
            <br />
            <code>{at}</code>
          </dd>
          <dt>{w.actor}</dt>
          <dd>
            {plain(actorOf(entry, actors))}
            {actor.id !== '' && (
              <>
                <br />
                <a href={linkHere({ entry: '', actor: actor.id, act: '', target: '' })}>{w.sameActor}</a>
              </>
            )}
          </dd>
          <dt>{w.address}</dt>
          <dd>{address === null ? '–' : <code>{plain(address)}</code>}</dd>
          <dt>{w.target}</dt>
          <dd>
            {plain(targetOf(entry, actors))}
            {target !== '' && (
              <>
                <br />
                <code>{plain(target)}</code> <CopyButton text={target} label={allTexts().copyId} />
                <br />
                <a href={linkHere({ entry: '', target, act: '', actor: '' })}>{w.sameTarget}</a>
              </>
            )}
          </dd>
          <dt>{w.project}</dt>
          <dd>{project === null ? w.wholeOrganization : plain(projects.get(project) ?? project)}</dd>
          <dt>{w.details}</dt>
          <dd>
            <pre class="wire">{plain(text)}</pre>
          </dd>
        </dl>
        {isFields(before) && isFields(after) && <Changes before={before} after={after} />}
        <footer>
          <button class="button" onClick={onClose}>
            {allTexts().close}
          </button>
        </footer>
      </div>
    </Dialog>
  )
}

type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)

/** Values of settings before and after the change. */
function Changes({ before, after }: { readonly before: Fields; readonly after: Fields }): JSX.Element {
  const w = texts()
  return (
    <table class="table audit-changes" aria-label={w.changes}>
      <thead>
        <tr>
          <th>{w.field}</th>
          <th>{w.before}</th>
          <th>{w.after}</th>
        </tr>
      </thead>
      <tbody>
        {[...new Set([...Object.keys(before), ...Object.keys(after)])].map((name) => (
          <tr key={name} class="still">
            <th scope="row">
              <code>{name}</code>
            </th>
            <td>
              <del>{plain(shown(before[name] ?? null))}</del>
            </td>
            <td>
              <ins>{plain(shown(after[name] ?? null))}</ins>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  )
}
