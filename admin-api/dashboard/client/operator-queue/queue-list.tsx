/** Choice of an organization: those with due mail first, then search results. */
import type { JSX } from 'preact'
import { link, linkHere, query } from '../app/location.ts'
import { useList, useRead } from '../app/query.ts'
import { texts } from '../operator/operator-texts.ts'
import { Icon } from '../parts/icon.tsx'
import { List, SearchBox } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { number, span } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import type { SystemState } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'

const lookMs = 5000

const queueOf = (organization: string): string => link('/operator/queue', { organization })

export function QueueList({ areas }: { readonly areas: JSX.Element }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const text = query.value.get('q') ?? ''
  const state = useRead('/operator/v1/system', {}, { isShown: true, every: lookMs })
  const list = useList('/operator/v1/organizations', { query: { ...(text !== '' && { q: text }) } }, { isShown: false })
  return (
    <>
      <TopBar title={common.queue} isLive={state.state !== 'failed'} />
      {areas}
      <div class="sheet">
        <Show read={state} reload={state.reload} failure={w.systemFailed} rows={2}>
          {(shown) => <Working state={shown} />}
        </Show>
        <section aria-label={w.queueOfAny}>
          <div class="head">
            <h2>{w.queueOfAny}</h2>
          </div>
          <SearchBox id="queue-organization-search" label={w.search} text={text} />
          <List
            label={w.organizations}
            list={list}
            failure={w.listFailed}
            keyOf={({ id }) => id}
            open={({ id }) => queueOf(id)}
            empty={
              <State title={w.nothingMatches({ text })} drawing={<Icon name="search" />}>
                <div class="actions">
                  <a class="button" href={linkHere({ q: '' })}>
                    {common.clearAll}
                  </a>
                </div>
              </State>
            }
            columns={[
              {
                head: w.name,
                class: 'strong',
                cell: ({ id, name }) => (
                  <a href={queueOf(id)}>
                    <SafeText text={name} />
                  </a>
                ),
              },
              { head: 'Id', cell: ({ id }) => <code>{id}</code> },
              { head: w.plan, class: 'c-status', cell: ({ plan }) => plan },
            ]}
            narrow={({ name, plan, deleted_at: deleted }) => [
              <Mark name={deleted === null ? 'ok' : 'canceled'} />,
              <SafeText text={name} />,
              plan,
            ]}
          />
        </section>
      </div>
    </>
  )
}

interface Waiting {
  readonly id: string
  readonly name: string
  readonly ready: number
  readonly active: number
}

/** Returns organizations by number of due messages, highest first. */
function waitingOf(lanes: SystemState['lanes']): readonly Waiting[] {
  const all = new Map<string, Waiting>()
  for (const { organization_id: id, organization_name: name, ready, active } of lanes) {
    if (id === null) continue
    const before = all.get(id)
    all.set(id, { id, name: name ?? id, ready: ready + (before?.ready ?? 0), active: active + (before?.active ?? 0) })
  }
  return [...all.values()].toSorted((a, b) => b.ready - a.ready)
}

function Working({ state: { queue, lanes } }: { readonly state: SystemState }): JSX.Element {
  const w = texts()
  const { waiting, oldest_due_at: oldest } = queue
  return (
    <>
      <div class="say">
        <h2>{w.queueSay({ n: waiting })}</h2>
        <p>{oldest === null ? w.queueNoneLate : w.queueOldest({ time: span(Date.now() - Date.parse(oldest)) })}</p>
      </div>
      {lanes.length === 0 ? (
        <State title={w.noLanes} text={w.noLanesText} />
      ) : (
        <ul class="queue-lanes" aria-label={w.organizations}>
          {waitingOf(lanes).map(({ id, name, ready, active }) => (
            <li key={id}>
              <a class="cut" href={queueOf(id)}>
                <SafeText text={name} />
              </a>
              <span class="soft">
                {w.ready} <b>{number(ready)}</b>
              </span>
              <span class="soft">
                {w.inFlight} <b>{number(active)}</b>
              </span>
            </li>
          ))}
        </ul>
      )}
    </>
  )
}
