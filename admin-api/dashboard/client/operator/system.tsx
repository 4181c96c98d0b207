/** State of the service: health, queue, paused destinations, disk space and backups. */
import type { JSX } from 'preact'
import { link } from '../app/location.ts'
import { useRead } from '../app/query.ts'
import { Findings } from '../findings/findings.tsx'
import { Gauge } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { SafeText } from '../parts/safe-text.tsx'
import { Show, State } from '../parts/states.tsx'
import { bytes, exactTime, longTime, number, shortTime, span } from '../parts/time.ts'
import { TopBar } from '../parts/top-bar.tsx'
import { BreakerReason } from '../reasons/breaker-reason.tsx'
import type { SystemState } from '../wire/api.d.ts'
import { texts } from './operator-texts.ts'

const lookMs = 5000

export function System({ areas }: { readonly areas: JSX.Element }): JSX.Element {
  const w = texts()
  const read = useRead('/operator/v1/system', {}, { isShown: true, every: lookMs })
  return (
    <>
      <TopBar title={w.title} isLive={read.state !== 'failed'} />
      {areas}
      <div class="sheet" tabIndex={0} role="region" aria-label={w.system}>
        <Show read={read} reload={read.reload} failure={w.systemFailed}>
          {(state) => <Shown state={state} />}
        </Show>
      </div>
    </>
  )
}

function Shown({ state }: { readonly state: SystemState }): JSX.Element {
  const w = texts()
  const { ready, reasons, breakers } = state
  return (
    <>
      <div class="say">
        <h2>{ready ? (breakers.length === 0 ? w.serviceWell : w.someRest) : w.serviceRefuses}</h2>
        {reasons.map((reason) => (
          <p key={reason} lang="en">
            {reason}
          </p>
        ))}
      </div>
      <Findings />
      <Figures state={state} />
      <Breakers breakers={breakers} />
      <Lanes state={state} />
    </>
  )
}

function Figures({ state }: { readonly state: SystemState }): JSX.Element {
  const w = texts()
  const { queue, disk, started_at: startedAt, version, memory_bytes: memory, waiting_writes: writes } = state
  const figures = [
    [w.waiting, number(queue.waiting)],
    [w.inFlight, number(queue.active)],
    [
      w.oldest,
      queue.oldest_due_at === null ? '–' : span(Date.now() - Date.parse(queue.oldest_due_at)),
      queue.oldest_due_at === null ? w.noneWaits : '',
    ],
    [w.diskFree, bytes(disk.free_bytes), w.diskOf({ total: bytes(disk.total_bytes) })],
    [w.writes, number(writes)],
    [w.memory, bytes(memory)],
    [w.lastBackup, ...backupOf(state)],
    [w.upSince, span(Date.now() - Date.parse(startedAt)), `${w.version} ${version}`],
  ] as const
  return (
    <dl class="ledger">
      {figures.map(([name, value, unit = '']) => (
        <div key={name}>
          <dt>{name}</dt>
          <dd>
            <b>{value}</b> <span>{unit}</span>
            {name === w.diskFree && (
              <>
                <Gauge used={disk.total_bytes - disk.free_bytes} limit={disk.total_bytes - disk.low_bytes} />
                <span>{w.diskLow({ limit: bytes(disk.low_bytes) })}</span>
              </>
            )}
          </dd>
        </div>
      ))}
    </dl>
  )
}

/** Returns the age of the latest backup and its date. */
function backupOf({ last_backup_at: at }: SystemState): readonly [value: string, unit: string] {
  const w = texts()
  if (at === null) return [w.noBackup, w.makeBackup]
  return [w.ago({ time: span(Math.max(0, Date.now() - Date.parse(at))) }), longTime(at)]
}

interface Owned {
  readonly destination_id: string
  readonly destination_name: string | null
  readonly organization_id: string | null
  readonly organization_name: string | null
}

const DestinationName = ({ one }: { readonly one: Owned }): JSX.Element => (
  <span title={one.destination_id}>
    <SafeText text={one.destination_name ?? texts().gone} />
  </span>
)

const Owner = ({ one }: { readonly one: Owned }): JSX.Element =>
  one.organization_id === null ? (
    <>–</>
  ) : (
    <a href={link(`/operator/organizations/${one.organization_id}`)}>
      <SafeText text={one.organization_name ?? one.organization_id} />
    </a>
  )

function Breakers({ breakers }: Pick<SystemState, 'breakers'>): JSX.Element {
  const w = texts()
  return (
    <section>
      <div class="head">
        <h3>{w.breakers}</h3>
      </div>
      {breakers.length === 0 ? (
        <p class="operator-note">
          <Mark name="ok" /> {w.noBreakers}
        </p>
      ) : (
        <ul class="healths operator-breakers">
          {breakers.map((one) => (
            <li key={one.destination_id}>
              <Mark name="paused" />
              <b>
                <DestinationName one={one} />
              </b>
              <span class="soft">
                <BreakerReason cause={one.cause} />
              </span>
              <span class="faint">
                <Owner one={one} /> ·{' '}
                {one.state === 'half_open' ? w.onTrial : one.until ? w.trialAt({ at: shortTime(one.until) }) : w.resting}
              </span>
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

const queueOf = ({
  organization_id: organization,
  destination_id: destination,
  project_id: project,
}: SystemState['lanes'][number]): string => link('/operator/queue', { organization: organization ?? '', destination, of_project: project })

function Lanes({ state: { lanes, breakers } }: { readonly state: SystemState }): JSX.Element {
  const w = texts()
  const resting = new Set(breakers.map(({ destination_id: id }) => id))
  return (
    <section>
      <div class="head">
        <h3>{w.lanes}</h3>
      </div>
      {lanes.length === 0 ? (
        <State title={w.noLanes} text={w.noLanesText} />
      ) : (
        <div class="scrolls" tabIndex={0} role="group" aria-label={w.lanes}>
          <table class="table" aria-label={w.lanes}>
            <thead>
              <tr>
                <th>{w.destination}</th>
                <th>{w.organization}</th>
                <th class="c-status num">{w.inFlight}</th>
                <th class="c-time num">{w.ready}</th>
                <th class="c-status">{w.nextDue}</th>
              </tr>
            </thead>
            <tbody>
              {lanes.map((lane) => (
                <tr class="still" key={`${lane.destination_id} ${lane.project_id}`}>
                  <td class="strong">
                    <span class="status">
                      <Mark name={resting.has(lane.destination_id) ? 'paused' : 'queued'} />
                      {lane.organization_id === null ? (
                        <DestinationName one={lane} />
                      ) : (
                        <a href={queueOf(lane)}>
                          <DestinationName one={lane} />
                        </a>
                      )}
                    </span>
                  </td>
                  <td>
                    <Owner one={lane} />
                  </td>
                  <td class="num">{number(lane.active)}</td>
                  <td class="num">{number(lane.ready)}</td>
                  <td>{lane.next_due_at === null ? '–' : shortTime(lane.next_due_at)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
      )}
    </section>
  )
}

export function Logins({ areas }: { readonly areas: JSX.Element }): JSX.Element {
  const w = texts()
  const read = useRead('/operator/v1/smtp-logins', {}, { isShown: true, every: lookMs })
  return (
    <>
      <TopBar title={w.logins} isLive={read.state !== 'failed'} />
      {areas}
      <div class="sheet">
        <Show read={read} reload={read.reload} failure={w.loginsFailed}>
          {({ data }) =>
            data.length === 0 ? (
              <State title={w.noLogins} text={w.noLoginsText} />
            ) : (
              <div class="scrolls" tabIndex={0} role="group" aria-label={w.logins}>
                <table class="table" aria-label={w.logins}>
                  <thead>
                    <tr>
                      <th>{w.address}</th>
                      <th>{w.username}</th>
                      <th class="c-time num">{w.failures}</th>
                      <th class="c-status">{w.blocked}</th>
                      <th class="c-status">{w.last}</th>
                    </tr>
                  </thead>
                  <tbody>
                    {data.map(({ address, username, failures, blocked, last_at: at }) => (
                      <tr class="still" key={`${address} ${username}`}>
                        <td class="strong">
                          <code>{address}</code>
                        </td>
                        <td>
                          <SafeText text={username} />
                        </td>
                        <td class="num">{number(failures)}</td>
                        <td>{blocked === null ? '–' : <span class="tag bad">{blocked}</span>}</td>
                        <td title={exactTime(at)}>{shortTime(at)}</td>
                      </tr>
                    ))}
                  </tbody>
                </table>
              </div>
            )
          }
        </Show>
      </div>
    </>
  )
}
