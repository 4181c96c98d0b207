/** From the sandbox to live, with evidence: the connection, the records of the sender domains, and where the last captures would go. */
import type { JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { call, type ApiFault } from '../app/api.ts'
import { go, link } from '../app/location.ts'
import { mayChange } from '../app/permissions.ts'
import { asFault, useList, useRead } from '../app/query.ts'
import { TextField, useBusy } from '../parts/controls.tsx'
import { Fault } from '../parts/forms.tsx'
import { Icon } from '../parts/icon.tsx'
import { Mark } from '../parts/mark.tsx'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { Loading, Show, State } from '../parts/states.tsx'
import { toast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import {
  getDestination,
  getDomainRecords,
  listDomains,
  listTraces,
  promoteDestinationToLive,
  simulateRouting,
  type Destination,
} from '../wire/operations.ts'
import { words } from '../words/words.ts'
import { Probe } from './probe.tsx'

export function Promote({ id }: { readonly id: string }): JSX.Element {
  const w = words()
  const read = useRead(getDestination, { path: { id } }, { isShown: true })
  const [isReachable, setReachable] = useState<boolean>()
  const heading = (
    <>
      <a href={link('/destinations')}>{w.destinations}</a>
      <a href={link(`/destinations/${id}`)}>
        <SafeText text={read.data?.name ?? ''} />
      </a>
      {w.promoteToLive}
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
                  {mayChange.value && <Probe id={id} onResult={({ ok }) => setReachable(ok)} />}
                  <Records id={id} />
                  <DryRun destination={destination} />
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

function Records({ id }: { readonly id: string }): JSX.Element {
  const w = words()
  const domains = useList(listDomains, { query: { limit: '20' } }, { isShown: false })
  return (
    <div class="block">
      <h2>{w.senderDomains}</h2>
      <Show read={domains.read} reload={domains.reload} failure={w.domainsFailed} rows={2}>
        {(rows) =>
          rows.length === 0 ? (
            <p class="soft">
              {w.noDomainsText} <a href={link('/domains', { new: '1' })}>{w.addDomain}</a>
            </p>
          ) : (
            <ul class="checks">
              {rows.map((domain) => (
                <DomainRecords key={domain.id} domainId={domain.id} name={domain.domain} destinationId={id} />
              ))}
            </ul>
          )
        }
      </Show>
    </div>
  )
}

function DomainRecords({
  domainId,
  name,
  destinationId,
}: {
  readonly domainId: string
  readonly name: string
  readonly destinationId: string
}): JSX.Element {
  const read = useRead(getDomainRecords, { path: { id: domainId }, query: { destination_id: destinationId } })
  const records = read.data?.data ?? []
  const missing = records.filter(({ required, verdict }) => required && verdict !== 'ok')
  return (
    <li>
      <Mark name={read.data === undefined ? 'pending' : missing.length === 0 ? 'ok' : 'warning'} />
      <div>
        <b>
          <a href={link(`/domains/${domainId}`)}>{name}</a>
        </b>
        <p>{records.map(({ purpose, verdict }) => `${purpose} ${verdict ?? words().notChecked}`).join(' · ')}</p>
      </div>
    </li>
  )
}

interface Would {
  readonly relayed: number
  readonly suppressed: number
  readonly elsewhere: number
  readonly refused: number
}

const maxSimulated = 20

/** The last captures, decided again as things are now. */
function DryRun({ destination }: { readonly destination: Destination }): JSX.Element {
  const w = words()
  const captures = useRead(listTraces, { query: { destination_id: destination.id, status: 'captured', limit: String(maxSimulated) } })
  const [would, setWould] = useState<Would>()
  const ids = captures.data?.data.map(({ trace_id: id }) => id) ?? []
  useEffect(() => {
    if (ids.length === 0) return undefined
    const aborter = new AbortController()
    Promise.all(ids.map((id) => call(simulateRouting, { body: { trace_id: id } }, { signal: aborter.signal }))).then(
      (all) => {
        const here = all.filter(({ destination_id: id, refusal }) => id === destination.id && !refusal)
        const suppressed = here.filter(({ suppressed: rows }) => rows.length > 0).length
        setWould({
          relayed: here.length - suppressed,
          suppressed,
          refused: all.filter(({ refusal }) => refusal !== null).length,
          elsewhere: all.filter(({ destination_id: id, refusal }) => id !== destination.id && !refusal).length,
        })
      },
      () => undefined,
    )
    return () => aborter.abort()
  }, [ids.join()])
  return (
    <div class="block">
      <h2>{w.dryRun}</h2>
      {captures.state === 'loading' && <Loading rows={1} />}
      {captures.state === 'ready' && ids.length === 0 && <p class="soft">{w.dryRunNone}</p>}
      {ids.length > 0 && !would && <Loading rows={1} />}
      {would && (
        <ul class="would">
          {(
            [
              ['relayed', would.relayed, w.wouldRelay],
              ['suppressed', would.suppressed, w.wouldSuppress],
              ['refused', would.refused, w.wouldRefuse],
              ['none', would.elsewhere, w.wouldGoElsewhere],
            ] as const
          ).map(([mark, count, text]) => (
            <li key={mark}>
              <Mark name={mark} />
              <b>{count}</b> {text}
            </li>
          ))}
        </ul>
      )}
    </div>
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
