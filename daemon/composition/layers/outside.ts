/** What leaves the process: time, the network, the disk and the threads; and what watches over them. */
import { observeCounts } from '#core/feedback/suppression/counts.ts'
import { systemClock } from '#core/clock.ts'
import { addressGuard } from '#core/outbound/address-guard.ts'
import { SystemResolver } from '#core/outbound/resolver.ts'
import { WorkerMessageReader } from '#ingest/messages/message-reader.ts'
import { WorkerMessageRewriter } from '#ingest/messages/message-rewriter.ts'
import { Database } from '#store/database.ts'
import { HttpTransport } from '../../../protocols/relay/http/transport.ts'
import { SmtpTransport } from '../../../protocols/relay/smtp/transport.ts'
import { RelayTransport } from '../../../protocols/relay/transport.ts'
import { Admission, defaultLag, freeBytes } from '../../observability/admission.ts'
import { Decisions } from '../../observability/decisions.ts'
import { Housekeeping } from '../../observability/housekeeping.ts'
import { Observer } from '../../observability/observer.ts'
import { Readiness } from '../../observability/readiness.ts'
import { OwnListeners } from '../../process/own-listeners.ts'
import { broke, T, type Add, type Composition } from '../parts.ts'

/** So many writes in the queue for the disk mean that it cannot keep up. */
const maxWaitingWrites = 20_000

export function addOutside(add: Add): void {
  add(T.Clock, ({ replace }) => replace.clock ?? systemClock)
  add(T.Random, ({ replace }) => replace.random ?? Math.random)
  add(T.Database, ({ kv, metrics, replace }) => {
    const database = new Database(replace.kv?.(kv) ?? kv)
    observeCounts(database, metrics)
    return database
  })
  add(T.Decisions, () => new Decisions())
  add(T.Observer, ({ get, log, metrics }) => new Observer(log, metrics, get(T.Decisions)))
  add(T.Health, () => new Readiness())
  add(T.OwnListeners, () => new OwnListeners())
  add(T.Guard, ({ config }) => addressGuard(config.outbound.allow.destinations))
  add(
    T.Resolver,
    ({ get, config, replace }) => replace.resolver ?? new SystemResolver({ servers: config.outbound.dnsServers, clock: get(T.Clock) }),
  )
  add(T.Transport, (composition) => composition.replace.transport ?? relay(composition))
  add(T.Reader, ({ get, replace }) => replace.reader ?? new WorkerMessageReader(get(T.Clock)))
  add(T.Rewriter, ({ get, replace }) => replace.rewriter ?? new WorkerMessageRewriter(get(T.Clock)))
  add(T.Admission, ({ get, config, kv, replace: { lagMs = defaultLag.lagMs } }) => {
    const storeIsBehind = (): boolean => kv.waitingWrites > maxWaitingWrites
    const sources = { clock: get(T.Clock), free: () => freeBytes(config.dataDir), storeIsBehind }
    return new Admission(sources, { ...defaultLag, lagMs, lowDiskBytes: config.store.lowDiskBytes })
  })
  add(T.Housekeeping, (composition) => {
    const { get, kv } = composition
    return new Housekeeping({
      ...{ database: get(T.Database), clock: get(T.Clock), onError: broke(composition, 'housekeeping') },
      sweepSandboxes: () => get(T.OAuth).sandboxes.sweep(),
      collect: () => kv.collect(),
    })
  })
}

function relay({ get, config }: Composition): RelayTransport {
  const network = { resolver: get(T.Resolver), guard: get(T.Guard), clock: get(T.Clock) }
  const isOwn = (address: string, port: number): boolean => get(T.OwnListeners).has(address, port)
  return new RelayTransport(new SmtpTransport({ ...network, heloName: config.smtpHost, isOwn }), new HttpTransport(network))
}
