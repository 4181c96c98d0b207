/** Who changed what in an organization, its operator included. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { go, linkHere, query } from '../app/location.ts'
import { useList } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { longTime, shortTime } from '../parts/time.ts'
import { operatorListAuditEntries, type AuditEntry } from '../wire/operations.ts'
import { words } from './operator-words.ts'

const actorOf = ({ actor: { kind, id } }: AuditEntry): string => (id === '' ? kind : `${kind} ${id}`)
const detailsOf = ({ details }: AuditEntry): string => (Object.keys(details).length === 0 ? '' : JSON.stringify(details))

export function AuditTab({ id }: { readonly id: string }): JSX.Element {
  const w = words()
  const act = query.value.get('act') ?? ''
  const [typed, setTyped] = useState(act)
  const list = useList(operatorListAuditEntries, { path: { id }, query: { ...(act !== '' && { act }), limit: '50' } })
  return (
    <div class="operator-audit">
      <form
        class="query-bar"
        role="search"
        onSubmit={(event) => {
          event.preventDefault()
          go(linkHere({ act: typed.trim() }))
        }}
      >
        <Icon name="search" />
        <input
          aria-label={w.actFilter}
          placeholder={w.actFilter}
          value={typed}
          spellcheck={false}
          onInput={(event) => setTyped(event.currentTarget.value)}
        />
      </form>
      <List
        label={w.audit}
        list={list}
        failure={w.auditFailed}
        keyOf={(entry) => entry.id}
        empty={<State title={w.noAudit} text={w.noAuditText} />}
        columns={[
          {
            head: w.time,
            class: 'c-status',
            cell: ({ at }) => (
              <time datetime={at} title={longTime(at)}>
                {shortTime(at)}
              </time>
            ),
          },
          { head: w.what, class: 'strong', cell: (entry) => <code>{entry.act}</code> },
          { head: w.who, cell: (entry) => <code>{plain(actorOf(entry))}</code> },
          { head: w.details, cell: (entry) => <code title={plain(detailsOf(entry))}>{plain(detailsOf(entry))}</code> },
        ]}
        narrow={(entry) => [
          <Mark name="none" />,
          <code>{entry.act}</code>,
          `${plain(actorOf(entry))} ${plain(detailsOf(entry))}`,
          shortTime(entry.at, true),
        ]}
      />
    </div>
  )
}
