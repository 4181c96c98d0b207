/** Promotion of a destination from sandbox to live: the evidence, and the choice of mail to route through it. */
import type { JSX } from 'preact'
import { useRef, useState } from 'preact/hooks'
import { useAll } from '../app/all.ts'
import { call, type ApiFault } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { homeProject, projects } from '../app/projects.ts'
import { asFault, useRead } from '../app/query.ts'
import { TextField, useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import {
  createRoutingRule,
  getDestination,
  listDestinations,
  listRoutingRules,
  promoteDestinationToLive,
  type Destination,
  type Project,
} from '../wire/operations.ts'
import { texts } from '../texts/texts.ts'
import { Evidence } from './evidence.tsx'
import { texts as own } from './evidence-texts.ts'

export function Promote({ id }: { readonly id: string }): JSX.Element {
  const w = texts()
  const read = useRead(getDestination, { path: { id } }, { isShown: true })
  const [isReachable, setReachable] = useState<boolean>()
  const heading = (
    <>
      <a href={link('/destinations')}>{w.destinations}</a>
      <a href={link(`/destinations/${id}`)}>
        <SafeText text={read.data?.name ?? w.destination} />
      </a>
      <span>{w.promoteToLive}</span>
    </>
  )
  return (
    <>
      <TopBar title={w.promoteToLive} heading={heading} />
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.destinationFailed}>
          {(destination) =>
            destination.mode === 'live' ? (
              <State title={w.alreadyLive({ name: plain(destination.name) })}>
                <div class="actions">
                  <a class="button" href={link(`/destinations/${id}`)}>
                    {w.back}
                  </a>
                  {mayChange.value && <a href={link('/routing', { new: '1' })}>{w.addRule}</a>}
                </div>
              </State>
            ) : (
              <div class="columns">
                <section aria-label={w.evidence}>
                  <div class="say">
                    <h2>
                      {isReachable === undefined
                        ? w.promoteSay
                        : isReachable
                          ? w.promoteReady({ name: plain(destination.name) })
                          : w.promoteNotReady({ name: plain(destination.name) })}
                    </h2>
                    <p>{w.promoteText}</p>
                  </div>
                  <Evidence id={id} from={destination.from} onProbe={setReachable} />
                </section>
                <aside aria-label={w.whatChanges}>
                  <Decision destination={destination} />
                </aside>
              </div>
            )
          }
        </Show>
      </div>
    </>
  )
}

function Decision({ destination }: { readonly destination: Destination }): JSX.Element {
  const w = texts()
  const [typed, setTyped] = useState('')
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const preselected = usePreselected(destination)
  const [chosen, setChosen] = useState<RouteChoice>()
  const [sender, setSender] = useState('')
  const routed = useRef('')
  const choice = chosen ?? preselected
  const isReady = typed.trim() === destination.name.trim() && choice !== undefined
  const promote = async (): Promise<void> => {
    setFault(undefined)
    const project = destination.scope === 'org' && { project_id: projectOf(destination)?.id ?? '' }
    try {
      if (choice === 'sender' && routed.current !== sender) {
        // the rule must exist before the first live mail; a second try must not create it again
        await call(createRoutingRule, { body: { match: sender, destination_id: destination.id, ...project } })
        routed.current = sender
      }
      const body = choice === 'all' ? { default_route: true, ...project } : { ...project }
      const { warnings } = await call(promoteDestinationToLive, { path: { id: destination.id }, body })
      toast(warnings.length > 0 ? own().liveNotRouted({ name: plain(destination.name) }) : w.nowLive({ name: plain(destination.name) }))
      go(link(`/destinations/${destination.id}`))
    } catch (error) {
      setFault(asFault(error))
    }
  }
  return (
    <div class="block">
      <h2>{w.whatChanges}</h2>
      <Effects />
      {mayChange.value ? (
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault()
            if (isReady) start(promote)
          }}
        >
          <ChooseRoute
            {...{ destination, choice, sender }}
            onChoose={setChosen}
            onSender={setSender}
            fault={choice === 'sender' ? fault?.fields.get('match') : undefined}
          />
          <TextField label={w.typeToConfirm({ name: plain(destination.name) })} value={typed} onChange={setTyped} />
          <Fault fault={fault} />
          <div class="actions">
            <button class="button primary" aria-disabled={!isReady || isBusy}>
              {w.promoteToLive}
            </button>
            <a class="button quiet" href={link(`/destinations/${destination.id}`)}>
              {w.stayInSandbox}
            </a>
          </div>
        </form>
      ) : (
        <p class="soft">{w.notAllowed}</p>
      )}
    </div>
  )
}

function Effects(): JSX.Element {
  const w = texts()
  return (
    <>
      <div class="modes">
        <div class="held">
          <Mark name="sandbox" />
          <b>{w.modeSandbox}</b>
          <span>{w.keptHere}</span>
        </div>
        <Icon name="right" />
        <div class="good">
          <Mark name="live" />
          <b>{w.modeLive}</b>
          <span>{w.leavesHere}</span>
        </div>
      </div>
      <ul class="effects">
        <li>{w.promoteEffect}</li>
        <li>{w.promoteKeeps}</li>
        <li>{w.promoteBack}</li>
      </ul>
    </>
  )
}

type RouteChoice = 'all' | 'sender' | 'none'

/** The project for the routing choice: the project of the destination, or the current project for a shared destination. */
const projectOf = ({ scope, project_id: owner }: Destination): Project | undefined =>
  scope === 'org' ? homeProject() : projects.value.find(({ id }) => id === owner)

/** Returns `all` if no mail of the project is routed yet: no rule, no environment and no default destination. Undefined while loading. */
function usePreselected(destination: Destination): RouteChoice | undefined {
  const project = projectOf(destination)
  const of = project && { project: project.id }
  const rules = useAll(listRoutingRules, of && { query: of }).read
  const known = useAll(listDestinations, of && { query: of }).read
  if (rules.state === 'failed' || known.state === 'failed') return 'none'
  if (!project || !rules.data || !known.data) return undefined
  const isRouted = rules.data.length > 0 || project.environment !== null || known.data.some((one) => one.is_org_default)
  return isRouted ? 'none' : 'all'
}

interface ChooseRouteProps {
  readonly destination: Destination
  readonly choice: RouteChoice | undefined
  readonly onChoose: (choice: RouteChoice) => void
  readonly sender: string
  readonly onSender: (sender: string) => void
  readonly fault: string | undefined
}

function ChooseRoute({ destination, choice, onChoose, sender, onSender, fault }: ChooseRouteProps): JSX.Element {
  const w = own()
  const choices: readonly (readonly [RouteChoice, string])[] = [
    ['all', w.allMailOf({ project: plain(projectOf(destination)?.name ?? '') })],
    ['sender', w.oneSender],
    ['none', w.nothingYet],
  ]
  return (
    <fieldset class="choices">
      <legend>{w.whichMail({ name: plain(destination.name) })}</legend>
      {choices.map(([value, label]) => (
        <label class="check" key={value}>
          <input type="radio" name="route" checked={choice === value} onChange={() => onChoose(value)} />
          <span>{label}</span>
        </label>
      ))}
      {choice === 'sender' && <TextField label={w.sender} hint={w.senderHint} value={sender} onChange={onSender} fault={fault} isMono />}
    </fieldset>
  )
}
