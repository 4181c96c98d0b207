/** Composes virtual inboxes: inboxes, messages, readers and notifications. */
import { pagesUrl, publicUrl } from '#config/settings/load.ts'
import { reportedCall } from '#core/activity.ts'
import { InboxSettings } from '#core/capture/inboxes/inbox-settings.ts'
import { Inboxes } from '#core/capture/inboxes/inboxes.ts'
import { Notifier } from '#core/capture/notify/notifier.ts'
import { BackgroundRead } from '#core/capture/reading/background-read.ts'
import { MessageViews } from '#core/capture/reading/message-views.ts'
import { Readings } from '#core/capture/reading/readings.ts'
import { TraceMessages } from '#core/capture/reading/trace-messages.ts'
import { webPortsOnly } from '#core/outbound/address-guard.ts'
import { guardedGet, guardedPost } from '../../protocols/outbound/clients.ts'
import type { InboxCore } from './composed.ts'
import { broke, guardOf, type Composition } from './parts.ts'

export function inboxCore(composition: Composition): InboxCore {
  const { get, config, replace } = composition
  const { trusted = [], imagesAllowed = [] } = replace
  const core = get('core')
  const captureEvents = get('captureEvents')
  const guard = guardOf(composition, config.outbound.allow.webhooks)
  const network = { resolver: get('resolver'), clock: core.clock }
  const onError = broke(composition, 'the reading of a capture')
  const inboxNotifier = new Notifier({
    ...core,
    post: replace.post ?? reportedCall(get('activity'), 'notification of an inbox', guardedPost({ ...network, guard, trusted })),
    sharedSecret: config.inboxNotifySecret ?? undefined,
    baseUrl: publicUrl(config, config.http.listen),
    onError,
  })
  const readings = new Readings(core.database, get('reader'), core.clock)
  const backgroundRead = new BackgroundRead({ ...core, captureEvents, readings, notifier: inboxNotifier, onError })
  return {
    inboxes: new Inboxes({ ...core, captureEvents, readings }),
    traceMessages: new TraceMessages({ ...core, readings }),
    inboxSettings: new InboxSettings({ ...core, ...network, guard }),
    inboxNotifier,
    messageViews: new MessageViews({
      ...core,
      origin: pagesUrl(config, config.http.listen),
      // the author of a message chooses its image URLs, so only the public internet is allowed
      get: guardedGet({ ...network, guard: webPortsOnly(guardOf(composition, imagesAllowed)) }),
    }),
    readings,
    backgroundRead,
    onCaptured: (capture) => captureEvents.notify(capture),
  }
}
