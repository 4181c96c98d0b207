/** Saves traces as a CSV file for spreadsheets. */
import { saveRows } from '../insights/plot-files.ts'
import type { TraceSummary } from '../wire/api.d.ts'

const head = ['created_at', 'trace_id', 'status', 'outcome', 'from', 'to', 'subject', 'destination_id', 'attempts']

const rowOf = (trace: TraceSummary): string[] => [
  ...[trace.created_at, trace.trace_id, trace.status, trace.outcome, trace.from, trace.to.join(' '), trace.subject],
  ...[trace.destination_id ?? '', String(trace.attempts)],
]

export const saveTraces = (traces: readonly TraceSummary[]): void => void saveRows([head, ...traces.map(rowOf)], 'traces')
