/** The thread that scores one mail. It has no network of its own: it asks the main thread about names. */
import { parentPort } from 'node:worker_threads'
import { AskedQuestions } from '../thread-questions.ts'
import { inspectMail } from './score.ts'
import type { FromThread, ToThread } from './thread-messages.ts'

const tell = (message: FromThread): void => parentPort?.postMessage(message)
const asked = new AskedQuestions(tell)

parentPort?.on('message', (message: ToThread) => {
  if (message.kind !== 'score') return asked.hear(message)
  const { raw, session, lists, now } = message
  // what throws ends the thread, and the main thread hears of it
  void inspectMail({ raw, session, lists, now, resolve: asked.resolve }).then((report) => tell({ kind: 'report', report }))
})
