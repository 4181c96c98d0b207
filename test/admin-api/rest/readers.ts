/** The parts of the rig that read traces for people. */
import type { MissingOptions } from '#core/diagnose/context.ts'
import { Diagnoses } from '#core/diagnose/diagnoses.ts'
import type { Probes } from '#core/delivery/probes.ts'
import type { RecordResolver } from '#core/outbound/resolver.ts'
import { TraceReader } from '#core/trace/read.ts'
import type { Trace } from '#core/trace/trace.ts'
import { playedResolver } from './played.ts'

export function readers(
  base: Pick<MissingOptions, 'database' | 'policies' | 'secrets' | 'clock'>,
  probes: Probes,
  records: RecordResolver,
) {
  const reader = new TraceReader(base.database, base.secrets)
  const waiting = (id: string, trace: Trace) => probes.waiting(id, trace)
  return { traces: reader, diagnoses: new Diagnoses({ ...base, traces: reader, resolver: playedResolver, records, waiting }) }
}
