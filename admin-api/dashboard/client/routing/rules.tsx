/** Routing rules in order of evaluation. */
import type { JSX } from 'preact'
import { useAll } from '../app/all.ts'
import { call } from '../app/api.ts'
import { go, link, linkHere, projectId, query } from '../app/location.ts'
import { isMakingNew, mayChange } from '../app/permissions.ts'
import { projects } from '../app/projects.ts'
import { showFault } from '../app/query.ts'
import { Icon } from '../parts/icon.tsx'
import { List } from '../parts/list.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import type { Destination, RoutingRule } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { EditRule } from './edit-rule.tsx'
import { matchOf, orderAfter } from './rule-order.ts'
import { texts } from './routing-texts.ts'

export function Rules({ destinations }: { readonly destinations: readonly Destination[] }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const project = projectId.value === undefined ? {} : { project: projectId.value }
  const list = useAll('/v1/routing/rules', { query: project }, { isShown: true })
  const rows = list.read.data ?? []
  const nameOf = ({ destination_id: id, environment }: RoutingRule): string =>
    environment === null
      ? plain(destinations.find((one) => one.id === id)?.name ?? id ?? '–')
      : w.environmentNamed({ name: plain(environment) })
  const close = (): void => go(linkHere({ new: '', edit: '' }), { replaces: true })
  const move = async (rule: RoutingRule, by: number): Promise<void> => {
    try {
      for (const [id, priority] of orderAfter(ofProject(rows, rule), rule, by))
        await call('PATCH /v1/routing/rules/{id}', { path: { id }, body: { priority } })
      toast(w.moved)
    } catch (error) {
      showFault(error)
    }
    list.reload()
  }
  const drop = (rule: RoutingRule, target: RoutingRule): void => {
    const its = ofProject(rows, rule)
    void move(rule, its.indexOf(target) - its.indexOf(rule))
  }
  const remove = async (rule: RoutingRule): Promise<void> => {
    const { id, match, destination_id, environment, priority, project_id } = rule
    try {
      await call('DELETE /v1/routing/rules/{id}', { path: { id } })
      list.reload()
      const way = environment === null ? { destination_id } : { environment }
      toast(
        w.ruleDeleted,
        () => void call('POST /v1/routing/rules', { body: { match, ...way, priority, project_id } }).then(list.reload, showFault),
      )
    } catch (error) {
      showFault(error)
    }
  }
  const actions = (rule: RoutingRule): JSX.Element | string =>
    mayChange.value ? <RuleButtons rule={rule} siblings={ofProject(rows, rule)} onMove={move} onRemove={remove} /> : ''
  const edited = mayChange.value ? rows.find(({ id }) => id === query.value.get('edit')) : undefined
  return (
    <>
      <List
        label={w.rules}
        list={list}
        failure={w.rulesFailed}
        keyOf={({ id }) => id}
        drag={mayChange.value ? { groupOf: ({ project_id: project }) => project, onDrop: drop } : undefined}
        empty={<State title={w.noRules} text={w.noRulesText} />}
        columns={[
          { head: common.priority, class: 'c-took num', cell: ({ priority }) => priority },
          { head: w.sender, class: 'strong c-name', cell: (rule) => <Sender rule={rule} /> },
          { head: w.leadsTo, class: 'c-name', cell: (rule) => <Way rule={rule} name={nameOf(rule)} /> },
          ...(projectId.value === undefined && projects.value.length > 1
            ? [{ head: common.project, class: 'c-small', cell: (rule: RoutingRule) => projectOf(rule) }]
            : []),
          { head: '', class: 'c-rule num', cell: actions },
        ]}
        narrow={(rule) => [<Mark name="relayed" />, <Sender rule={rule} />, `${String(rule.priority)} · ${nameOf(rule)}`, actions(rule)]}
      />
      {(isMakingNew(mayChange) || edited) && (
        <EditRule key={edited?.id ?? ''} rule={edited} destinations={destinations} onClose={close} onDone={list.reload} />
      )}
    </>
  )
}

const ofProject = (rows: readonly RoutingRule[], { project_id: project }: RoutingRule): readonly RoutingRule[] =>
  rows.filter((one) => one.project_id === project)

const projectOf = ({ project_id: id }: RoutingRule): string => plain(projects.value.find((one) => one.id === id)?.name ?? id)

const Sender = ({ rule }: { readonly rule: RoutingRule }): JSX.Element => (
  <>
    <code>
      <SafeText text={matchOf(rule)} />
    </code>{' '}
    {'any' in rule.match && <span class="faint">{texts().anySender}</span>}
  </>
)

const Way = ({ rule, name }: { readonly rule: RoutingRule; readonly name: string }): JSX.Element =>
  rule.destination_id === null ? <>{name}</> : <a href={link(`/destinations/${rule.destination_id}`)}>{name}</a>

interface ButtonsProps {
  readonly rule: RoutingRule
  readonly siblings: readonly RoutingRule[]
  readonly onMove: (rule: RoutingRule, by: number) => Promise<void>
  readonly onRemove: (rule: RoutingRule) => Promise<void>
}

function RuleButtons({ rule, siblings, onMove, onRemove }: ButtonsProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const name = plain(matchOf(rule))
  const [isFirst, isLast] = [siblings[0] === rule, siblings.at(-1) === rule]
  return (
    <span class="row-buttons">
      <button
        class="button small square"
        aria-disabled={isFirst}
        aria-label={`${w.earlier}: ${name}`}
        title={w.earlier}
        onClick={() => isFirst || void onMove(rule, -1)}
      >
        <Icon name="up" />
      </button>
      <button
        class="button small square"
        aria-disabled={isLast}
        aria-label={`${w.later}: ${name}`}
        title={w.later}
        onClick={() => isLast || void onMove(rule, 1)}
      >
        <Icon name="down" />
      </button>
      <a class="button small" href={linkHere({ edit: rule.id, new: '' })} aria-label={`${w.edit}: ${name}`}>
        {w.edit}
      </a>
      <button class="button small danger" onClick={() => void onRemove(rule)} aria-label={common.removeNamed({ name })}>
        {common.remove}
      </button>
    </span>
  )
}
