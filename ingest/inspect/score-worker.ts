/** The thread that scores one mail. It has no network of its own: it asks the main thread about names and policies. */
import { parentPort } from 'node:worker_threads'
import type { DnsList, QuestionType } from './input.ts'
import { inspectMail } from './score.ts'
import type { FromThread, ToThread } from './thread-messages.ts'

const waiting = new Map<number, PromiseWithResolvers<readonly unknown[]>>()
const lists = Promise.withResolvers<readonly DnsList[]>()
const tell = (message: FromThread): void => parentPort?.postMessage(message)
let asked = 0

function ask(question: (number: number) => FromThread): Promise<readonly unknown[]> {
  const number = ++asked
  const answer = Promise.withResolvers<readonly unknown[]>()
  waiting.set(number, answer)
  tell(question(number))
  return answer.promise
}

const resolve = (name: string, type: QuestionType): Promise<readonly unknown[]> =>
  ask((number) => ({ kind: 'question', number, name, type }))
const fetchPolicy = async (domain: string): Promise<string> => String((await ask((number) => ({ kind: 'policy', number, domain })))[0])

parentPort?.on('message', (message: ToThread) => {
  if (message.kind === 'score') {
    const { raw, session, now, hasPolicies } = message
    // what throws ends the thread, and the main thread hears of it
    void inspectMail({ raw, session, lists: lists.promise, now, resolve, ...(hasPolicies && { fetchPolicy }) }).then((report) =>
      tell({ kind: 'report', report }),
    )
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
