/** From the sandbox to live, with evidence: the connection, the records of the sender domains, and where the last captures would go. */
import type { JSX } from 'preact'
import { useState } from 'preact/hooks'
import { call, type ApiFault } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { asFault, useRead } from '../app/query.ts'
import { TextField, useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { getDestination, promoteDestinationToLive, type Destination } from '../wire/operations.ts'
import { words } from '../words/words.ts'
import { Evidence } from './evidence.tsx'

export function Promote({ id }: { readonly id: string }): JSX.Element {
  const w = words()
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
              <State title={w.alreadyLive(plain(destination.name))}>
                <div class="actions">
                  <a class="button" href={link(`/destinations/${id}`)}>
                    {w.back}
                  </a>
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
                          ? w.promoteReady(plain(destination.name))
                          : w.promoteNotReady(plain(destination.name))}
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
  const w = words()
  const [typed, setTyped] = useState('')
  const [fault, setFault] = useState<ApiFault>()
  const [isBusy, start] = useBusy()
  const isReady = typed.trim() === destination.name.trim()
  const promote = async (): Promise<void> => {
    setFault(undefined)
    try {
      await call(promoteDestinationToLive, { path: { id: destination.id } })
      toast(w.nowLive(plain(destination.name)))
      go(link(`/destinations/${destination.id}`))
    } catch (error) {
      setFault(asFault(error))
    }
  }
  return (
    <div class="block">
      <h2>{w.whatChanges}</h2>
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
      {mayChange.value ? (
        <form
          class="form"
          onSubmit={(event) => {
            event.preventDefault()
            if (isReady) start(promote)
          }}
        >
          <TextField label={w.typeToConfirm(plain(destination.name))} value={typed} onChange={setTyped} />
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
