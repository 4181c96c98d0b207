/** Reads log lines of Stalwart, plain or in the records of shippers: text lines, and events in the webhook's form. */
import type { IgnoredLine } from '#core/ingest-sources/ignored-lines.ts'
import { parseJson, objectIn, type JsonObject } from '../../events/json-value.ts'
import type { LineGroup } from '../log-lines.ts'
import { recordsIn, type LogRecord } from '../log-records.ts'
import type { LineEvent, LogGroup, LogReading, RejectedLine } from '../log-group.ts'
import { lineIn } from '../shipped-record.ts'
import { notOurs, readStalwartEvent, refused, type Outcome } from './stalwart-event.ts'
import { readStalwartText } from './stalwart-line.ts'

/** Each line is complete, so no state is remembered. */
export function readStalwartGroup({ first, lines }: LineGroup): LogGroup {
  return { lines: lines.length, needs: [], read: () => readLines(first, lines) }
}

function readLines(first: number, lines: LineGroup['lines']): LogReading {
  const events: LineEvent[] = []
  const rejected: RejectedLine[] = []
  const ignored: IgnoredLine[] = []
  for (const [i, text] of lines.entries()) {
    const line = first + i
    for (const record of recordsIn(text)) {
      const outcome = readRecord(record)
      if (outcome.event) events.push({ line, event: outcome.event, domains: outcome.domains })
      else if (outcome.reason === null) ignored.push({ reason: record.kind === 'empty' ? 'empty' : 'no_outcome', text: text ?? '' })
      else rejected.push({ line, reason: outcome.reason })
    }
  }
  return { events, rejected, ignored, remember: new Map(), forget: [] }
}

function readRecord(record: LogRecord): Outcome {
  if (record.kind === 'empty') return notOurs
  if (record.kind === 'unreadable') return refused(record.reason)
  return record.kind === 'text' ? readStalwartText(record.text) : readJsonRecord(record.value)
}

function readJsonRecord(record: JsonObject): Outcome {
  if (typeof record['type'] === 'string' && objectIn(record['data'])) return readStalwartEvent(record)
  const text = lineIn(record)?.trimStart()
  if (text === undefined) return refused('is neither an event nor a record with the field message, log, line or msg')
  return text.startsWith('{') ? readStalwartEvent(parseJson(text)) : readStalwartText(text)
}
