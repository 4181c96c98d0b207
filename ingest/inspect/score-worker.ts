/** The thread that scores one mail. It has no network of its own: it asks the main thread about names. */
import { parentPort } from 'node:worker_threads'
import type { DnsList, QuestionType } from './input.ts'
import { inspectMail } from './score.ts'
import type { FromThread, ToThread } from './thread-messages.ts'

const waiting = new Map<number, PromiseWithResolvers<readonly unknown[]>>()
const lists = Promise.withResolvers<readonly DnsList[]>()
const tell = (message: FromThread): void => parentPort?.postMessage(message)
let asked = 0

function resolve(name: string, type: QuestionType): Promise<readonly unknown[]> {
  const number = ++asked
  const question = Promise.withResolvers<readonly unknown[]>()
  waiting.set(number, question)
  tell({ kind: 'question', number, name, type })
  return question.promise
}

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'score') {
    const { raw, session, now } = message
    // what throws ends the thread, and the main thread hears of it
    void inspectMail({ raw, session, lists: lists.promise, now, resolve }).then((report) => tell({ kind: 'report', report }))
    return
  }
  if (message.kind === 'lists') {
    lists.resolve(message.lists)
    return
  }
  const question = waiting.get(message.number)
  waiting.delete(message.number)
  if (message.kind === 'answer') question?.resolve(message.records)
  else question?.reject(Object.assign(new Error(message.code), { code: message.code }))
})
