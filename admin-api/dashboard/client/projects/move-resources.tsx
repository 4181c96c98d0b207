/** Page that moves resources to another project: selection, target and the result of each move. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import type { ApiFault } from '../app/api.ts'
import { go, link, linkHere, organization, query } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { projectRows, projects } from '../app/projects.ts'
import { asFault, useRead } from '../app/query.ts'
import { ChooseField, useBusy } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Loading, Show, State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { texts as allTexts } from '../texts/texts.ts'
import { movableKinds, type Kind, type Movable } from './movable.ts'
import { inTree } from './project-tree.ts'
import { texts } from './projects-texts.ts'

/** Result of a move: warnings, or the reason of a failure. */
type Outcome = { readonly isMoved: boolean; readonly lines: readonly string[] }

export function MoveResources({ id }: { readonly id: string }): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const read = useRead('/v1/projects/{id}', { path: { id } }, { isShown: true })
  const name = plain(read.data?.name ?? '')
  const { name: owner = '', role = '' } = organization.value ?? {}
  return (
    <>
      <TopBar
        title={w.moveTitle}
        heading={
          <>
            <a href={link('/settings/projects')}>{common.projects}</a>
            <a href={link(`/settings/projects/${id}`)}>{name || common.project}</a>
            <span class="cut">{w.moveTitle}</span>
          </>
        }
      />
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.failed}>
          {() => (mayChange.value ? <Wizard id={id} /> : <State title={common.notAllowed} text={common.yourRole({ role, name: owner })} />)}
        </Show>
      </div>
    </>
  )
}

function Wizard({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const groups = useMovables(id)
  const others = inTree(projects.value).filter((one) => one.id !== id)
  const to = others.find((one) => one.id === query.value.get('to')) ?? others[0]
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [outcomes, setOutcomes] = useState<ReadonlyMap<string, Outcome>>(new Map())
  const [isBusy, start] = useBusy()
  const all = [...groups.values()].flatMap((group) => (Array.isArray(group) ? (group as readonly Movable[]) : []))
  const wanted = all.filter((one) => chosen.has(one.id) && outcomes.get(one.id)?.isMoved !== true)
  const run = async (): Promise<void> => {
    if (!to) return
    const moved: Movable[] = []
    for (const one of wanted) {
      const outcome = await moveOne(one, to.id)
      if (outcome.isMoved) moved.push(one)
      setOutcomes((before) => new Map(before).set(one.id, outcome))
    }
    setChosen(new Set())
    if (moved.length > 0) toast(w.movedCount({ count: moved.length, name: plain(to.name) }), () => void moveBack(moved))
  }
  const moveBack = async (moved: readonly Movable[]): Promise<void> => {
    for (const one of moved.toReversed()) {
      const { isMoved, lines } = await moveOne(one, id)
      setOutcomes((before) => (isMoved ? without(before, one.id) : new Map(before).set(one.id, { isMoved: true, lines })))
    }
  }
  if (groups.size < movableKinds.length) return <Loading rows={4} />
  if (others.length === 0) return <State title={w.moveAlone} />
  if (all.length === 0) return <State title={w.moveNothing} />
  return (
    <>
      <div class="say">
        <h2>{w.moveSay({ count: wanted.length })}</h2>
        <p>{w.moveText}</p>
      </div>
      <div class="columns">
        <section aria-label={w.moveTitle}>
          {movableKinds.map(({ kind }) => (
            <Group key={kind} kind={kind} found={groups.get(kind) ?? []} chosen={chosen} outcomes={outcomes} onChoose={setChosen} />
          ))}
        </section>
        <aside aria-label={w.moveSay({ count: wanted.length })}>
          <div class="block form">
            <ChooseField
              label={w.moveTo}
              value={to?.id ?? ''}
              onChange={(next) => go(linkHere({ to: next }), { replaces: true })}
              of={projectRows.value}
              options={others.map((one) => [one.id, `${one.parent_id === null ? '' : '– '}${plain(one.name)}`] as const)}
            />
            <div class="actions">
              <button class="button primary" aria-disabled={isBusy || wanted.length === 0} onClick={() => wanted.length > 0 && start(run)}>
                {w.moveNow({ count: wanted.length })}
              </button>
            </div>
          </div>
        </aside>
      </div>
    </>
  )
}

const without = (outcomes: ReadonlyMap<string, Outcome>, id: string): ReadonlyMap<string, Outcome> =>
  new Map([...outcomes].filter(([one]) => one !== id))

async function moveOne({ kind, id }: Movable, to: string): Promise<Outcome> {
  try {
    return { isMoved: true, lines: (await movableKinds.find((one) => one.kind === kind)?.move(id, to)) ?? [] }
  } catch (error) {
    return { isMoved: false, lines: [asFault(error).message] }
  }
}

type Found = readonly Movable[] | ApiFault

/** Reads movable resources by kind. Kinds appear as their lists arrive. */
function useMovables(projectId: string): ReadonlyMap<Kind, Found> {
  const [found, setFound] = useState<ReadonlyMap<Kind, Found>>(new Map())
  useEffect(() => {
    let isShown = true
    const keep = (kind: Kind, what: Found): void => {
      if (isShown) setFound((before) => new Map(before).set(kind, what))
    }
    for (const { kind, list } of movableKinds)
      list(projectId).then(
        (rows) => keep(kind, rows),
        (error: unknown) => keep(kind, asFault(error)),
      )
    return () => void (isShown = false)
  }, [projectId])
  return found
}

interface GroupProps {
  readonly kind: Kind
  readonly found: Found
  readonly chosen: ReadonlySet<string>
  readonly outcomes: ReadonlyMap<string, Outcome>
  readonly onChoose: (chosen: ReadonlySet<string>) => void
}

function Group({ kind, found, chosen, outcomes, onChoose }: GroupProps): JSX.Element | null {
  const w = texts()
  if (!Array.isArray(found))
    return (
      <div class="block">
        <h2>{w.kinds[kind]}</h2>
        <p class="soft" lang="en">
          {(found as ApiFault).message}
        </p>
      </div>
    )
  const rows = found as readonly Movable[]
  if (rows.length === 0) return null
  const free = rows.filter((one) => !one.isShared && !one.isNamed && outcomes.get(one.id)?.isMoved !== true)
  const toggle = (ids: readonly string[], isOn: boolean): void =>
    onChoose(new Set([...[...chosen].filter((one) => !ids.includes(one)), ...(isOn ? ids : [])]))
  const isAll = free.length > 0 && free.every((one) => chosen.has(one.id))
  return (
    <fieldset class="block movables">
      <legend>
        <b>{w.kinds[kind]}</b>
      </legend>
      {free.length > 1 && (
        <label class="check soft">
          <input
            type="checkbox"
            checked={isAll}
            onChange={() =>
              toggle(
                free.map((one) => one.id),
                !isAll,
              )
            }
          />
          {w.chooseAll}
        </label>
      )}
      {rows.map((one) => (
        <Row
          key={one.id}
          one={one}
          isChosen={chosen.has(one.id)}
          outcome={outcomes.get(one.id)}
          onChoose={(isOn) => toggle([one.id], isOn)}
        />
      ))}
    </fieldset>
  )
}

interface RowProps {
  readonly one: Movable
  readonly isChosen: boolean
  readonly outcome: Outcome | undefined
  readonly onChoose: (isOn: boolean) => void
}

function Row({ one, isChosen, outcome, onChoose }: RowProps): JSX.Element {
  const w = texts()
  const isFixed = one.isShared || outcome?.isMoved === true
  return (
    <label class="check">
      <input type="checkbox" checked={isChosen} disabled={isFixed} onChange={(event) => onChoose(event.currentTarget.checked)} />
      <span>
        <SafeText text={one.name} /> {one.isShared && <span class="faint">{w.notForOrganization}</span>}
        {one.isNamed && !outcome && <span class="faint">{w.namedElsewhere}</span>}
        {outcome && (
          <span class="status">
            <Mark name={outcome.isMoved ? 'ok' : 'failed'} />
            {outcome.isMoved ? w.moved : w.stayed}
          </span>
        )}
        {outcome?.lines.map((line) => (
          <small key={line} lang="en">
            {line}
          </small>
        ))}
      </span>
    </label>
  )
}
