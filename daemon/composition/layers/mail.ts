/** Composes mail: acceptance, routing, delivery and feedback. */
import { CaptureEvents } from '#core/capture/notify/capture-events.ts'
import { shareCaptures } from '#core/capture/notify/shared-captures.ts'
import { ActRunner } from '#core/delivery/acts/act-runner.ts'
import { HealthRegistry } from '#core/delivery/health/health-registry.ts'
import { isLoginRefused } from '#core/delivery/health/login.ts'
import { Probes } from '#core/delivery/probe/probes.ts'
import { FailureNotices } from '#core/notices/failure-notices.ts'
import type { Destination } from '#core/routing/destination.ts'
import { Destinations } from '#core/routing/destinations/destinations.ts'
import { Accept, type AcceptOptions } from '#core/submission/accept/accept.ts'
import { ReplayRunner } from '#core/submission/replay/replay-runner.ts'
import { Engagements } from '#core/tracking/engagements.ts'
import { Tracking } from '#core/tracking/message-tracking.ts'
import { Looks } from '#core/watch/look.ts'
import { Watch } from '#core/watch/watch.ts'
import { decodeEncodedWords } from '#ingest/mime/encoded-words.ts'
import { deliveryAttempts, deliveryQueue } from '../delivery-core.ts'
import { inboundCore } from '../inbound-core.ts'
import { inboxCore } from '../inbox-core.ts'
import { ingestCore } from '../ingest-core.ts'
import { broke, type Add, type Composition } from '../parts.ts'
import { webhookCore } from '../webhook-core.ts'

/** Interval of tests of a destination whose login this process has not seen. */
const recentProbeMs = 300_000

export function addMail(add: Add): void {
  add('accept', acceptance)
  add('destinations', ({ get, config }) => {
    const defaultConnections = config.delivery.connectionsPerDestination
    return new Destinations({ ...get('core'), guard: get('guard'), resolver: get('resolver'), defaultConnections })
  })
  add('healthRegistry', ({ get }) => {
    const onUsed = (organizationId: string, id: string): void => get('probes').used(organizationId, id)
    return new HealthRegistry({ clock: get('clock'), random: get('random'), listener: get('observer'), onUsed })
  })
  add('probes', (composition) => {
    const { get } = composition
    const core = get('core')
    return new Probes({
      ...core,
      destinations: get('destinations'),
      current: async (organizationId, id) => (await core.policies.of(organizationId)).destinations.get(id),
      health: get('healthRegistry'),
      transport: get('transport'),
      random: get('random'),
      onProbed: (organizationId, one) =>
        isLoginRefused(get('healthRegistry').login(one)) && get('watch').note(organizationId, one.projectId),
      onError: broke(composition, 'the probe of a destination'),
    })
  })
  add('attempts', deliveryAttempts)
  add('queue', deliveryQueue)
  add('replayRunner', (composition) => {
    const { get } = composition
    const onError = broke(composition, 'a replay')
    return new ReplayRunner({ ...get('core'), queued: (entry) => get('queue').offer(entry, undefined, false), onError })
  })
  add('actRunner', (composition) => {
    const { get } = composition
    const onError = broke(composition, 'an act on the queue')
    return new ActRunner({ ...get('core'), queued: (entry) => get('queue').offer(entry, undefined, false), onError })
  })
  add('captureEvents', (composition) => {
    const events = new CaptureEvents()
    shareCaptures(composition.get('database'), events, broke(composition, 'a capture of another daemon'))
    return events
  })
  add('inboxes', inboxCore)
  add('failureNotices', (composition) => {
    const { get, config } = composition
    const parts = { ...get('core'), accept: get('accept'), mail: get('people').mail, hostname: config.smtpHost }
    return new FailureNotices({ ...parts, readSubject: decodeEncodedWords, onError: broke(composition, 'a notice to an author') })
  })
  add('engagements', (composition) => {
    const { get } = composition
    return new Engagements({
      ...get('core'),
      admission: get('admission'),
      onError: broke(composition, 'the recording of an opening or click'),
    })
  })
  add('ingest', ingestCore)
  add('inbound', inboundCore)
  add('webhooks', webhookCore)
  add('watch', watch)
}

/** Creates the acceptance of messages. The queue gets an accepted message immediately; after a crash, it finds the message in the store. */
function acceptance({ get, config, secrets, replace }: Composition): Accept {
  const { maxRecipients, maxMessageBytes } = config.submission
  const options: AcceptOptions = {
    ...get('core'),
    tracking: new Tracking({ secrets, rewriter: get('rewriter'), publicUrl: config.baseUrl ?? undefined }),
    listener: {
      accepted: (trace) => get('observer').sendAccepted(trace),
      queued: (entry, content, trace) => get('queue').offer(entry, content, true, trace),
      captured: (capture) => get('inboxes').onCaptured(capture),
    },
    health: get('healthRegistry'),
    lateCounts: get('lateCounts'),
    maxRecipients,
    maxMessageBytes,
    bounceDomain: config.inboundDomain,
  }
  return replace.accept?.(options) ?? new Accept(options)
}

/** Creates the quick checks of organizations. */
function watch(composition: Composition): Watch {
  const core = composition.get('core')
  const onError = broke(composition, 'a look at an organization')
  const probe = (one: Destination): void =>
    void composition
      .get('probes')
      .lately(one, recentProbeMs)
      .catch((error: unknown) => onError(error, one.id))
  const looks = new Looks({ ...core, settle: composition.get('settle'), health: composition.get('healthRegistry'), probe })
  return new Watch({ ...core, look: (...args) => looks.look(...args), onError })
}
