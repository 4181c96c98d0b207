/** Virtual inboxes, composed: themselves, their messages, who reads these, and who tells others of them. */
import type { SecretBox } from '#core/access/secret-box.ts'
import { BackgroundRead, type BackgroundReadOptions } from '#core/capture/reading/background-read.ts'
import type { CaptureEvents } from '#core/capture/notify/capture-events.ts'
import type { Capture } from '#core/capture/capture.ts'
import { InboxSettings, type InboxSettingsOptions } from '#core/capture/inboxes/inbox-settings.ts'
import { Inboxes } from '#core/capture/inboxes/inboxes.ts'
import type { MessageReader } from '#core/capture/reading/message-reader.ts'
import { MessageViews } from '#core/capture/reading/message-views.ts'
import { Notifier } from '#core/capture/notify/notifier.ts'
import { Readings } from '#core/capture/reading/readings.ts'
import type { Post } from '#core/outbound/post.ts'
import { addressGuard, webPortsOnly, type AllowedRange } from '#core/outbound/address-guard.ts'
import { guardedGet, guardedPost } from '../../protocols/outbound/clients.ts'

export interface InboxParts extends Omit<InboxSettingsOptions, 'guard'> {
  readonly policies: BackgroundReadOptions['policies']
  readonly secrets: SecretBox
  readonly reader: MessageReader
  readonly captureEvents: CaptureEvents
  /** What besides the public internet may be told. */
  readonly allowed: readonly AllowedRange[]
  /** Carries notifications instead of HTTP. */
  readonly post?: Post | undefined
  /** Certificates in PEM that are trusted besides the well-known ones. */
  readonly trusted?: readonly string[] | undefined
  readonly sharedSecret?: string | undefined
  /** Public address of the service, without a slash at the end. */
  readonly baseUrl: string
  /** Address of the pages for people, without a slash at the end. */
  readonly pagesUrl: string
  /** Whoever writes a message names its images, so nothing but the public internet is asked for them, unless a test says so. */
  readonly imagesAllowed?: readonly AllowedRange[] | undefined
  readonly onError: (error: unknown, id: string) => void
}

export interface InboxCore {
  readonly inboxes: Inboxes
  readonly inboxSettings: InboxSettings
  readonly inboxNotifier: Notifier
  readonly messageViews: MessageViews
  readonly backgroundRead: BackgroundRead
  /** A capture is durable: who waits for it is told, and its body is read. */
  readonly onCaptured: (capture: Capture) => void
}

export function inboxCore({ allowed, trusted = [], imagesAllowed = [], post, ...parts }: InboxParts): InboxCore {
  const guard = addressGuard(allowed)
  const inboxNotifier = new Notifier({ ...parts, post: post ?? guardedPost({ ...parts, guard, trusted }) })
  const readings = new Readings(parts.database, parts.reader, parts.clock)
  const backgroundRead = new BackgroundRead({ ...parts, readings, notifier: inboxNotifier })
  return {
    inboxes: new Inboxes({ ...parts, readings }),
    inboxSettings: new InboxSettings({ ...parts, guard }),
    inboxNotifier,
    messageViews: new MessageViews({
      ...parts,
      origin: parts.pagesUrl,
      get: guardedGet({ ...parts, guard: webPortsOnly(addressGuard(imagesAllowed)) }),
    }),
    backgroundRead,
    onCaptured(capture) {
      parts.captureEvents.notify(capture)
      backgroundRead.wake()
    },
  }
}
