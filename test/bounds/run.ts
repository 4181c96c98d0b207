/**
 * Runs the attacks manually at any size: `npm run bounds -- --full`, `--only sendMessage`, `--body 1000000 --session 8000000 --texts 8`.
 * Prints the highest costs. Exits with 1 if a cost exceeds the bounds.
 */
import { parseArgs } from 'node:util'
import { NameServer } from '../support/web/name-server.ts'
import { temporaryFolder } from '../support/daemon/workspace.ts'
import { MeasuredDaemon } from './daemon.ts'
import { operatorKey } from './requests.ts'
import { told } from './summary.ts'
import { allowed, isBeyond, walk, walkEnvironment } from './walk.ts'

const mebi = 1024 * 1024
const { values } = parseArgs({
  options: {
    full: { type: 'boolean' },
    only: { type: 'string' },
    body: { type: 'string' },
    session: { type: 'string' },
    texts: { type: 'string' },
  },
})
const usual = values.full
  ? { bodyBytes: 8 * mebi, sessionBytes: 8 * mebi, texts: 12 }
  : { bodyBytes: 262_144, sessionBytes: mebi, texts: 2 }
await using folder = await temporaryFolder('bounds')
await using names = await NameServer.start({})
await using measured = await MeasuredDaemon.start(folder.path, walkEnvironment(operatorKey, names))
const walked = await walk(measured, {
  bodyBytes: Number(values.body ?? usual.bodyBytes),
  sessionBytes: Number(values.session ?? usual.sessionBytes),
  texts: Number(values.texts ?? usual.texts),
  isWanted: (what) => what.includes(values.only ?? ''),
  onWalked: (one) => isBeyond(one) && console.log(told(one)),
})
if (walked.length === 0) throw new Error(`Nothing was attacked: no operation or command has the name ${values.only ?? ''}.`)
console.log(walked.length, 'attacks; the worst:')
const worst = walked.toSorted((a, b) => b.piece - a.piece).slice(0, 10)
const dearest = walked.toSorted((a, b) => b.all / allowed(b) - a.all / allowed(a)).slice(0, 10)
for (const one of [...worst, ...dearest]) console.log(told(one))
process.exitCode = walked.some(isBeyond) ? 1 : 0
