/** The thread that parses reports. It processes one request at a time and keeps no state. */
import { parentPort } from 'node:worker_threads'
import type { ParserAnswer, ParserRequest } from '../threads/parser-thread.ts'
import { readReport } from './report.ts'

parentPort?.on('message', ({ raw }: ParserRequest) => {
  const answer: ParserAnswer = { kind: 'report', reading: readReport(raw) }
  parentPort?.postMessage(answer)
})
