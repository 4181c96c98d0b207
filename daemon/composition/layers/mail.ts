/** Mail on its way: its acceptance, its routing, its delivery and its feedback. */
import { CaptureEvents } from '#core/capture/notify/capture-events.ts'
import { HealthRegistry } from '#core/delivery/health/health-registry.ts'
import { Probes } from '#core/delivery/probe/probes.ts'
import { Destinations } from '#core/routing/destinations/destinations.ts'
import { Accept } from '#core/submission/accept/accept.ts'
import { ReplayRunner } from '#core/submission/replay/replay-runner.ts'
import { Engagements } from '#core/tracking/engagements.ts'
import { Tracking } from '#core/tracking/message-tracking.ts'
import { deliveryAttempts, deliveryQueue } from '../delivery-core.ts'
import { inboundCore } from '../inbound-core.ts'
import { inboxCore } from '../inbox-core.ts'
import { ingestCore } from '../ingest-core.ts'
import { broke, T, type Add, type Composition } from '../parts.ts'
import { webhookCore } from '../webhook-core.ts'

export function addMail(add: Add): void {
  add(T.Accept, acceptance)
  add(T.Destinations, ({ get, config }) => {
    const defaultConnections = config.delivery.connectionsPerDestination
    return new Destinations({ ...get(T.Core), guard: get(T.Guard), resolver: get(T.Resolver), defaultConnections })
  })
  add(T.HealthRegistry, ({ get }) => {
    const onUsed = (organizationId: string, id: string): void => get(T.Probes).used(organizationId, id)
    return new HealthRegistry({ clock: get(T.Clock), random: get(T.Random), listener: get(T.Observer), onUsed })
  })
  add(T.Probes, (composition) => {
    const { get } = composition
    const core = get(T.Core)
    return new Probes({
      ...core,
      destinations: get(T.Destinations),
      current: async (organizationId, id) => (await core.policies.of(organizationId)).destinations.get(id),
      board: get(T.HealthRegistry),
      transport: get(T.Transport),
      random: get(T.Random),
      onError: broke(composition, 'the probe of a destination'),
    })
  })
  add(T.Attempts, deliveryAttempts)
  add(T.Queue, deliveryQueue)
  add(T.ReplayRunner, (composition) => {
    const { get } = composition
    const onError = broke(composition, 'a replay')
    return new ReplayRunner({ ...get(T.Core), queued: (entry) => get(T.Queue).offer(entry, undefined, false), onError })
  })
  add(T.CaptureEvents, () => new CaptureEvents())
  add(T.Inboxes, inboxCore)
  add(T.Engagements, (composition) => {
    const { get } = composition
    return new Engagements({
      ...get(T.Core),
      admission: get(T.Admission),
      onError: broke(composition, 'the recording of an opening or click'),
    })
  })
  add(T.Ingest, ingestCore)
  add(T.Inbound, inboundCore)
  add(T.Webhooks, webhookCore)
}

/** What was accepted goes on at once; a process that dies before finds it in the store. */
function acceptance({ get, config, secrets }: Composition): Accept {
  const { maxRecipients, maxMessageBytes } = config.submission
  return new Accept({
    ...get(T.Core),
    tracking: new Tracking({ secrets, rewriter: get(T.Rewriter), publicUrl: config.baseUrl ?? undefined }),
    listener: {
      accepted: (trace) => get(T.Observer).sendAccepted(trace),
      queued: (entry, content) => get(T.Queue).offer(entry, content, true),
      captured: (capture) => get(T.Inboxes).onCaptured(capture),
    },
    health: get(T.HealthRegistry),
    maxRecipients,
    maxMessageBytes,
    bounceDomain: config.inboundDomain,
  })
}
