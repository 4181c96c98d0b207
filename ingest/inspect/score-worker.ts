/** The thread that scores one mail. It has no network access: the main thread answers its DNS queries and fetches policies. */
import { parentPort } from 'node:worker_threads'
import { AskedQuestions } from '../dns/thread-questions.ts'
import type { DnsList } from '../dns/resolve.ts'
import { inspectMail } from './score.ts'
import type { FromThread, PolicyQuestion, ToThread } from './thread-messages.ts'

const lists = Promise.withResolvers<readonly DnsList[]>()
const post = (message: FromThread): void => parentPort?.postMessage(message)
const asked = new AskedQuestions<PolicyQuestion>(post)

const fetchPolicy = async (domain: string): Promise<string> =>
  String((await asked.ask((number) => ({ kind: 'policy', number, domain })))[0])

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'lists') return lists.resolve(message.lists)
  if (message.kind !== 'score') return asked.receive(message)
  const { raw, session, now, hasPolicies } = message
  post({ kind: 'begun' })
  // an error ends the thread, and the main thread is notified
  void inspectMail({ raw, session, lists: lists.promise, now, resolve: asked.resolve, ...(hasPolicies && { fetchPolicy }) }).then(
    (report) => post({ kind: 'report', report }),
  )
})
