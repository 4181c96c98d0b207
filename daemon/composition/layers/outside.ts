/** Composes the parts that reach outside the process: time, network, disk and threads, and their monitoring. */
import { reported } from '#core/activity.ts'
import { observeBounces, observeCounts } from '#core/feedback/suppression/counts.ts'
import { clockOf } from '#core/clock.ts'
import { damageFindings } from '#core/doctor/process-findings.ts'
import { inWords } from '#core/doctor/report.ts'
import { Fairness } from '#core/fairness/fairness.ts'
import { MeteredKv } from '#core/fairness/metered-kv.ts'
import { processorShare, ThreadMeter } from '#core/fairness/thread-meter.ts'
import { SystemResolver } from '#core/outbound/resolver.ts'
import { WorkerMessageReader } from '#ingest/messages/message-reader.ts'
import { WorkerMessageRewriter } from '#ingest/messages/message-rewriter.ts'
import { staleMs } from '#store/daemons/daemons.ts'
import { Database } from '#store/database.ts'
import { HttpTransport } from '../../../protocols/relay/http/http-transport.ts'
import { SmtpTransport } from '../../../protocols/relay/smtp/smtp-transport.ts'
import { RelayTransport } from '../../../protocols/relay/relay-transport.ts'
import { DamageWatch } from '../../doctor/damage-watch.ts'
import { Admission, defaultLag, freeBytes } from '../../observability/admission/admission.ts'
import { Decisions } from '../../observability/decisions.ts'
import { DefectLog } from '../../observability/defect-log.ts'
import { Housekeeping } from '../../observability/housekeeping.ts'
import { Observer } from '../../observability/observer.ts'
import { PartLogs } from '../../observability/part-logs.ts'
import { Readiness } from '../../observability/readiness.ts'
import { SpillRoom } from '../../observability/admission/spill-room.ts'
import { OwnListeners } from '../../process/own-listeners.ts'
import { spanCore } from './spans.ts'
import { broke, guardOf, type Add, type Composition } from '../parts.ts'

/** Number of writes waiting for the disk above which the store counts as overloaded. */
const maxWaitingWrites = 20_000

export function addOutside(add: Add): void {
  add('activity', ({ replace }) => replace.activity)
  add('clock', ({ replace, kv }) => replace.clock ?? clockOf(kv.daemons))
  add('random', ({ replace }) => replace.random ?? Math.random)
  add('database', ({ get, kv, metrics, config: { dataDir, store }, replace }) => {
    const database = new Database(new MeteredKv(replace.kv?.(kv) ?? kv, get('meter')), kv.daemons)
    const free = replace.free ?? (() => freeBytes(dataDir))
    database.draftRoom = new SpillRoom({ free, lowDiskBytes: store.lowDiskBytes, onRemoved: () => get('housekeeping').hurry() })
    observeCounts(database, metrics)
    return database
  })
  add('decisions', () => new Decisions())
  add('partLogs', ({ log, config }) => new PartLogs(log, config.logLevels))
  add('defectLog', ({ get }) => new DefectLog(() => get('clock').monotonic()))
  add('observer', ({ get, metrics }) => {
    const observer = new Observer(get('partLogs'), metrics, get('decisions'), get('defectLog'), get('spans')?.messages)
    observeBounces(get('database'), (bounce) => observer.bounced(bounce))
    return observer
  })
  add('spans', spanCore)
  add('health', readinessOf)
  add('ownListeners', () => new OwnListeners())
  add('guard', (composition) => guardOf(composition, composition.config.outbound.allow.destinations))
  add(
    'resolver',
    ({ get, config, replace }) => replace.resolver ?? new SystemResolver({ servers: config.outbound.dnsServers, clock: get('clock') }),
  )
  add('transport', (composition) => {
    const { get, replace } = composition
    return replace.transport ?? reported(get('activity'), relay(composition), { deliver: 'delivery attempt', probe: 'probe' })
  })
  add('reader', ({ get, replace }) => {
    const names = { read: 'reading of a message', attachment: 'reading of an attachment' }
    return replace.reader ?? reported(get('activity'), new WorkerMessageReader(get('clock')), names)
  })
  add('rewriter', ({ get, replace }) => {
    return replace.rewriter ?? reported(get('activity'), new WorkerMessageRewriter(get('clock')), { rewrite: 'rewriting of a message' })
  })
  add('admission', ({ get, config, kv, replace }) => {
    const { lagMs = defaultLag.lagMs } = replace
    const storeIsBehind = (): boolean => kv.waitingWrites > maxWaitingWrites
    const sources = {
      clock: get('clock'),
      free: replace.free ?? (() => freeBytes(config.dataDir)),
      storeIsBehind,
      onDiskLow: () => get('housekeeping').hurry(),
    }
    return new Admission(sources, { ...defaultLag, lagMs, lowDiskBytes: config.store.lowDiskBytes })
  })
  add('meter', ({ replace }) => replace.meter ?? new ThreadMeter(undefined, processorShare()))
  add('fairness', ({ get }) => new Fairness({ clock: get('clock'), meter: get('meter'), lags: () => get('admission').isLagging() }))
  add('damageWatch', ({ kv, log, get }) => new DamageWatch(kv, get('clock'), log))
  add('housekeeping', (composition) => {
    const { get, kv } = composition
    return new Housekeeping({
      ...{ database: get('database'), clock: get('clock'), onError: broke(composition, 'housekeeping') },
      sweepSandboxes: () => get('oauth').sandboxes.sweep(),
      collect: () => kv.collect(),
    })
  })
}

function relay({ get, config, replace }: Composition): RelayTransport {
  const network = { resolver: get('resolver'), guard: get('guard'), clock: get('clock'), trusted: replace.trusted ?? [] }
  const isOwn = (address: string, port: number): boolean => get('ownListeners').has(address, port)
  return new RelayTransport(new SmtpTransport({ ...network, heloName: config.smtpHost, isOwn }), new HttpTransport(network))
}

/** Composes readiness. A daemon that cannot reach its shared store accepts nothing, so that a load balancer uses another one. */
function readinessOf({ get, kv, logLoss }: Composition): Readiness {
  const { daemons } = kv
  const health = new Readiness()
  const seconds = staleMs / 1000
  health.require(() => (daemons.isCurrent() ? undefined : `the database has not answered for ${seconds} seconds; requests wait for it`))
  health.watch(() =>
    get('admission').isDiskLow()
      ? 'disk.low: New mail and files are refused until there is more space on the file system of the data folder.'
      : undefined,
  )
  health.watch(() => {
    const problem = logLoss?.().problem
    return problem === undefined ? undefined : `log.lines_dropped: The log cannot be written: ${problem}.`
  })
  health.watch(() =>
    get('fileScanning').isUnreachable ? 'scanner.unreachable: Uploaded files wait for the virus scanner (POSTERN_CLAMD).' : undefined,
  )
  const damage = () => damageFindings(kv.damage).map((one) => inWords(one))
  health.watch(() => damage().map(({ id, summary }) => `${id}: ${summary}`)[0])
  return health
}
