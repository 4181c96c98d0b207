/** Step 4 of going live: the choice of mail that goes through the destination. The choice is the confirmation. */
import type { ComponentChildren, JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call, type ApiFault } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { homeProject, projects } from '../app/projects.ts'
import { asFault, useList } from '../app/query.ts'
import { TextField, useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain } from '../parts/safe-text.tsx'
import { toast } from '../parts/toast.tsx'
import type { Destination, Project, RoutingRule } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { texts as own } from '../destinations/evidence-texts.ts'
import { texts } from './going-live-texts.ts'

type RouteChoice = 'all' | 'sender' | 'none'

/** The project for the routing choice: the project of the destination, or the current project for a shared destination. */
const projectOf = ({ scope, project_id: owner }: Destination): Project | undefined =>
  scope === 'org' ? homeProject() : projects.value.find(({ id }) => id === owner)

interface Routes {
  /** Whether no mail of the project is routed yet: no rule, no environment and no default sender. */
  readonly isUnrouted: boolean
  /** Rule that routes all mail of the project elsewhere, and the name of its destination. */
  readonly rule?: RoutingRule
  readonly through?: string | undefined
}

/** Undefined while loading. */
function useRoutes(destination: Destination): Routes | undefined {
  const project = projectOf(destination)
  const of = project && { project: project.id }
  const rules = useAll('/v1/routing/rules', of && { query: of }).read
  const known = useAll('/v1/destinations', of && { query: of }).read
  if (rules.state === 'failed' || known.state === 'failed') return { isUnrouted: false }
  if (!project || !rules.data || !known.data) return undefined
  const rule = rules.data.find(({ match, destination_id: to }) => 'any' in match && to !== destination.id)
  const through = rule && (known.data.find(({ id }) => id === rule.destination_id)?.name ?? rule.environment ?? '')
  const isRouted = rules.data.length > 0 || project.environment !== null || known.data.some((one) => one.is_org_default)
  return { isUnrouted: !isRouted, ...(rule && { rule, through }) }
}

interface RouteStepProps {
  readonly destination: Destination
  /** Whether the check found a problem. It does not prevent going live, but the button recommends nothing. */
  readonly isAnyway: boolean
  readonly onLive: () => void
}

interface Decision {
  readonly choice: RouteChoice | undefined
  readonly sender: string
  readonly routes: Routes | undefined
}

/** Returns the request that goes live. Throws `ApiFault`. */
function usePromotion(destination: Destination): (decision: Decision) => Promise<void> {
  const routed = useRef('')
  return async ({ choice, sender, routes }) => {
    const project = destination.scope === 'org' && { project_id: projectOf(destination)?.id ?? '' }
    if (choice === 'sender' && routed.current !== sender) {
      // the first live mail needs the rule; a second try must not create it again
      await call('POST /v1/routing/rules', { body: { match: sender.trim(), destination_id: destination.id, ...project } })
      routed.current = sender
    }
    const other = choice === 'all' ? routes?.rule : undefined
    const body = choice === 'all' && !other ? { default_route: true, ...project } : { ...project }
    await call('POST /v1/destinations/{id}/promote-to-live', { path: { id: destination.id }, body })
    // after the promotion, so that no mail of the project is captured in between
    if (other) await call('PATCH /v1/routing/rules/{id}', { path: { id: other.id }, body: { destination_id: destination.id } })
  }
}

export function RouteStep({ destination, isAnyway, onLive }: RouteStepProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const name = plain(destination.name)
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const routes = useRoutes(destination)
  const promote = usePromotion(destination)
  const [chosen, setChosen] = useState<RouteChoice>()
  const [sender, setSender] = useState('')
  const choice = chosen ?? (routes && (routes.isUnrouted ? 'all' : 'none'))
  const isReady = choice !== undefined && (choice !== 'sender' || sender.trim() !== '')
  const goLive = async (): Promise<void> => {
    setFault(undefined)
    try {
      await promote({ choice, sender, routes })
      toast(common.nowLive({ name }))
      go(link(`/destinations/${destination.id}/go-live/first-mail`))
      onLive()
    } catch (error) {
      setFault(asFault(error))
    }
  }
  if (!mayChange.value) return <NotYou />
  return (
    <form
      class="block form"
      onSubmit={(event) => {
        event.preventDefault()
        if (isReady) start(goLive)
      }}
    >
      <fieldset class="choices">
        <legend>{own().whichMail({ name })}</legend>
        <Choices {...{ destination, routes, choice, setChosen, sender, setSender }} fault={fault?.fields.get('match')} />
      </fieldset>
      <Leaving />
      <Fault fault={fault} />
      <button class={isAnyway ? 'button full' : 'button primary full'} aria-disabled={!isReady || isBusy}>
        {isAnyway ? w.goLiveAnyway : w.goLive({ name })}
      </button>
      <a class="button quiet full" href={link(`/destinations/${destination.id}`)}>
        {common.stayInSandbox}
      </a>
    </form>
  )
}

interface ChoicesProps extends Decision {
  readonly destination: Destination
  readonly setChosen: (value: RouteChoice) => void
  readonly setSender: (value: string) => void
  readonly fault: string | undefined
}

function Choices({ destination, routes, choice, setChosen, sender, setSender, fault }: ChoicesProps): JSX.Element {
  const [w, labels] = [texts(), own()]
  const name = plain(destination.name)
  const project = plain(projectOf(destination)?.name ?? '')
  return (
    <>
      <Choice value="all" {...{ choice, setChosen }} label={labels.allMailOf({ project })}>
        {routes?.through === undefined ? w.allText : w.changeTo({ project, other: plain(routes.through), name })}
      </Choice>
      <Choice value="sender" {...{ choice, setChosen }} label={labels.oneSender}>
        {w.senderText}
      </Choice>
      {choice === 'sender' && (
        <TextField label={labels.sender} hint={labels.senderHint} value={sender} onChange={setSender} fault={fault} isMono />
      )}
      <Choice value="none" {...{ choice, setChosen }} label={labels.nothingYet}>
        {w.noneText}
      </Choice>
    </>
  )
}

function Leaving(): JSX.Element {
  const w = texts()
  return (
    <ul class="leaving">
      <li>
        <Mark name="live" /> {w.leavesNow}
      </li>
      <li>
        <Mark name="captured" /> {w.staysCaptured}
      </li>
      <li>
        <Mark name="none" /> {w.wayBack}
      </li>
    </ul>
  )
}

interface ChoiceProps {
  readonly value: RouteChoice
  readonly choice: RouteChoice | undefined
  readonly setChosen: (value: RouteChoice) => void
  readonly label: string
  readonly children: ComponentChildren
}

const Choice = ({ value, choice, setChosen, label, children }: ChoiceProps): JSX.Element => (
  <label class="choice">
    <input type="radio" name="route" checked={choice === value} onChange={() => setChosen(value)} />
    <span>
      <b>{label}</b>
      <small>{children}</small>
    </span>
  </label>
)

/** Names the members who can go live. */
function NotYou(): JSX.Element {
  const w = texts()
  const { read } = useList('/v1/members', {}, { isShown: false })
  const names = (read.data ?? []).filter(({ role }) => role !== 'viewer' && role !== 'billing').map(({ email }) => email)
  return (
    <div class="block">
      <h3>{w.onlyDevelopers}</h3>
      {names.length > 0 && <p class="soft">{w.ask({ names: names.join(', ') })}</p>}
    </div>
  )
}
