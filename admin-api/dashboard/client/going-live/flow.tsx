/** Frame of the going-live flow: its five steps at the left, with the results of earlier ones. */
import type { ComponentChildren, JSX } from 'preact'
import { link } from '../app/location.ts'
import { Icon } from '../parts/icon.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import type { Destination } from '../wire/api.d.ts'
import { texts as allTexts } from '../texts/texts.ts'
import { Mode } from '../destinations/destination-texts.tsx'
import { texts } from './going-live-texts.ts'

export type FlowStep = 1 | 2 | 3 | 4 | 5

interface FlowProps {
  readonly step: FlowStep
  /** Result of each step that has ended. */
  readonly results?: Readonly<Partial<Record<FlowStep, string>>>
  readonly destination?: Destination | undefined
  readonly children: ComponentChildren
}

/** Address of an earlier step; undefined if it cannot be repeated. A live destination changes on its own page. */
function addressOf(step: FlowStep, destination: Destination | undefined): string | undefined {
  if (!destination) return step === 1 ? link('/destinations/new') : undefined
  if (destination.mode === 'live') return undefined
  const flow = `/destinations/${destination.id}/go-live`
  return step === 2 ? link(`${flow}/login`) : step === 3 ? link(flow) : undefined
}

export function Flow({ step, results = {}, destination, children }: FlowProps): JSX.Element {
  const [w, common] = [texts(), allTexts()]
  const names = { 1: w.provider, 2: w.login, 3: w.check, 4: w.goLiveStep, 5: w.firstMail }
  const heading = (
    <>
      <a href={link('/destinations')}>{common.destinations}</a>
      {destination ? (
        <span class="cut">
          <SafeText text={destination.name} />
        </span>
      ) : (
        <span>{common.newDestination}</span>
      )}
    </>
  )
  return (
    <>
      <TopBar
        title={destination ? plain(destination.name) : common.newDestination}
        heading={heading}
        beside={destination && <Mode mode={destination.mode} />}
      />
      <div class="sheet">
        <div class="flow">
          <nav aria-label={w.steps}>
            <p class="soft">{w.stepOf({ n: step, name: names[step] })}</p>
            <ol>
              {([1, 2, 3, 4, 5] as const).map((n) => {
                const isDone = results[n] !== undefined
                const to = n === step ? undefined : addressOf(n, destination)
                return (
                  <li key={n} aria-current={n === step ? 'step' : undefined}>
                    <span class={isDone ? 'arch done' : n === step ? 'arch' : 'arch plain'} aria-hidden="true">
                      {isDone ? <Icon name="check" /> : n}
                    </span>
                    <div>
                      <b>{to === undefined ? names[n] : <a href={to}>{names[n]}</a>}</b>
                      {isDone && <small>{results[n]}</small>}
                    </div>
                  </li>
                )
              })}
            </ol>
          </nav>
          {children}
        </div>
      </div>
    </>
  )
}
