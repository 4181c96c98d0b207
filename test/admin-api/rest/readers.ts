/** Parts of the rig: what reads traces for people, inboxes, inbound routes, and moves. */
import type { Scope } from '#core/access/scope.ts'
import { moveResource, type MoveRequest } from '#core/administration/move.ts'
import type { CaptureBell } from '#core/capture/bell.ts'
import type { MessageReader } from '#core/capture/message-reader.ts'
import { inboundCore, type InboundCore, type InboundParts } from '../../../daemon/inbound-core.ts'
import { inboxCore, type InboxCore, type InboxParts } from '../../../daemon/inbox-core.ts'
import { authority } from '../../protocols/relay/certificates.ts'
import type { MissingOptions } from '#core/diagnose/context.ts'
import { Diagnoses } from '#core/diagnose/diagnoses.ts'
import type { Probes } from '#core/delivery/probes.ts'
import type { RecordResolver } from '#core/outbound/resolver.ts'
import { TraceReader } from '#core/trace/read.ts'
import type { Trace } from '#core/trace/trace.ts'
import { decodeEncodedWords } from '#ingest/encoded-words.ts'
import { playedResolver } from './played.ts'

export function readers(
  base: Pick<MissingOptions, 'database' | 'policies' | 'secrets' | 'clock'>,
  probes: Probes,
  records: RecordResolver,
) {
  const reader = new TraceReader(base.database, base.secrets, decodeEncodedWords)
  const waiting = (id: string, trace: Trace) => probes.waiting(id, trace)
  return { traces: reader, diagnoses: new Diagnoses({ ...base, traces: reader, resolver: playedResolver, records, waiting }) }
}

/** They tell receivers on loopback, whose certificates are of the authority of the tests. */
export function inboxesOf(
  base: Pick<InboxParts, 'database' | 'writes' | 'policies' | 'secrets' | 'clock'>,
  reader: MessageReader,
  bell: CaptureBell,
  baseUrl: string,
): InboxCore {
  const outside = { resolver: playedResolver, allowed: [{ cidr: '127.0.0.1/32' }], trusted: [authority] }
  const onError = (error: unknown): never => {
    throw error
  }
  return inboxCore({ ...base, ...outside, reader, bell, baseUrl, pagesUrl: baseUrl, onError })
}

/** What they tell goes to loopback. */
export function inboundOf(parts: Omit<InboundParts, 'resolver'>, inboundDomain: string | null, baseUrl: string): InboundCore {
  const settings = { allowed: [{ cidr: '127.0.0.1/32' }], hostname: 'post.example.ch', dnsServers: [], inboundDomain, baseUrl }
  return inboundCore({ ...parts, resolver: playedResolver }, settings)
}

/** Moves of resources between projects. */
export const moving = (parts: Parameters<typeof moveResource>[0]) => ({
  move: (scope: Scope, request: MoveRequest) => moveResource(parts, scope, request),
})
