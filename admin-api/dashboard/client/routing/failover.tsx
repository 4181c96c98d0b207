/** Failover policies: fallback destinations, their order and their conditions. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import { go, link, linkHere, projectId, query } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { showFault } from '../app/query.ts'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import type { Destination, FailoverPolicy } from '../wire/api.d.ts'
import { useHealths } from '../health/destination-health.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { conditionTexts, EditFailover } from './edit-failover.tsx'
import { texts } from './routing-texts.ts'

export function Failover({ destinations }: { readonly destinations: readonly Destination[] }): JSX.Element {
  const w = texts()
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useAll('/v1/failover/policy', { query: project }, { isShown: true })
  const healths = useHealths()
  const rows = list.read.data ?? []
  const nameOf = (id: string): string => plain(destinations.find((one) => one.id === id)?.name ?? id)
  const isDown = ({ primary_id: id }: FailoverPolicy): boolean => healths.get(id)?.breaker.state === 'open'
  const remove = async (policy: FailoverPolicy): Promise<void> => {
    const { primary_id, fallback_ids, project_id, conditions } = policy
    const { on, latency_ms: latency } = conditions
    const again = { primary_id, fallback_ids, project_id, conditions: { on, ...(latency !== null && { latency_ms: latency }) } }
    try {
      await call('DELETE /v1/failover/policy/{primary_id}', { path: { primary_id }, query: { project: project_id } })
      list.reload()
      toast(w.failoverDeleted, () => void call('POST /v1/failover/policy', { body: again }).then(list.reload, showFault))
    } catch (error) {
      showFault(error)
    }
  }
  const actions = (policy: FailoverPolicy): JSX.Element => (
    <PolicyButtons policy={policy} name={nameOf(policy.primary_id)} onRemove={remove} />
  )
  const edited = mayChange.value ? rows.find(({ id }) => id === query.value.get('edit')) : undefined
  const way = ({ fallback_ids: ids }: FailoverPolicy): string => ids.map((id) => nameOf(id)).join(' → ')
  return (
    <>
      <List
        label={w.failover}
        list={list}
        failure={w.failoverFailed}
        keyOf={({ id }) => id}
        empty={<State title={w.noFailover} text={w.noFailoverText} />}
        columns={[
          {
            head: w.primary,
            class: 'strong',
            cell: ({ primary_id: id }) => <a href={link(`/destinations/${id}`)}>{nameOf(id)}</a>,
          },
          { head: w.fallbacks, cell: (policy) => <Fallbacks policy={policy} destinations={destinations} /> },
          { head: w.conditions, cell: ({ conditions: { on } }) => on.map((one) => conditionTexts()[one]).join(', ') },
          { head: w.state, class: 'c-path', cell: (policy) => <FailoverState isDown={isDown(policy)} /> },
          { head: '', class: 'c-actions wide num', cell: actions },
        ]}
        narrow={(policy) => [
          <Mark name={isDown(policy) ? 'paused' : 'ok'} />,
          nameOf(policy.primary_id),
          `→ ${way(policy)}`,
          actions(policy),
        ]}
      />
      {(isMakingNew(mayChange) || edited) && (
        <EditFailover
          key={edited?.id ?? ''}
          policy={edited}
          destinations={destinations}
          onClose={() => go(linkHere({ new: '', edit: '' }), { replaces: true })}
          onDone={list.reload}
        />
      )}
    </>
  )
}

interface ButtonsProps {
  readonly policy: FailoverPolicy
  readonly name: string
  readonly onRemove: (policy: FailoverPolicy) => Promise<void>
}

const PolicyButtons = ({ policy, name, onRemove }: ButtonsProps): JSX.Element => (
  <span class="row-buttons">
    <a
      class="button small"
      href={linkHere({ view: 'what-if', down: policy.primary_id, days: '7', new: '', edit: '' })}
      aria-label={`${texts().simulateFailure}: ${name}`}
    >
      {texts().simulateFailure}
    </a>
    {mayChange.value && (
      <>
        <a class="button small" href={linkHere({ edit: policy.id, new: '' })} aria-label={`${texts().edit}: ${name}`}>
          {texts().edit}
        </a>
        <button class="button small danger" onClick={() => void onRemove(policy)} aria-label={allTexts().removeNamed({ name })}>
          {allTexts().remove}
        </button>
      </>
    )}
  </span>
)

interface FallbacksProps {
  readonly policy: FailoverPolicy
  readonly destinations: readonly Destination[]
}

const Fallbacks = ({ policy, destinations }: FallbacksProps): JSX.Element => (
  <ol class="chain">
    {policy.fallback_ids.map((id) => {
      const destination = destinations.find((one) => one.id === id)
      return (
        <li key={id}>
          {plain(destination?.name ?? id)} {destination?.mode === 'sandbox' && <span class="faint">({texts().sandboxSkipped})</span>}
        </li>
      )
    })}
  </ol>
)

const FailoverState = ({ isDown }: { readonly isDown: boolean }): JSX.Element => (
  <span class="status">
    <Mark name={isDown ? 'paused' : 'ok'} />
    {isDown ? texts().othersTakeOver : texts().takesMail}
  </span>
)
