/** The thread that reads reports: answers one request at a time, keeps nothing between them. */
import { parentPort } from 'node:worker_threads'
import type { ParserAnswer, ParserRequest } from '../threads/parser-thread.ts'
import { readReport } from './report.ts'

parentPort?.on('message', ({ raw }: ParserRequest) => {
  const answer: ParserAnswer = { kind: 'report', reading: readReport(raw) }
  parentPort?.postMessage(answer)
})
