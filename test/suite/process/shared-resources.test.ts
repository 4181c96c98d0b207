/** Tests of resources that the modules of a process share, such as Chromium. */
import type { ExecutionContext } from '#test'
import { testWith } from '../../support/peers/peers.ts'
import { browserOf, type Browser, type BrowserContext } from '../../support/web/browser.ts'
import { closeShared, renewShared, shareUntilTheEnd } from './shared-resources.ts'

const test = testWith('chromium')
const [ofOneModule, ofAnother] = [browserOf(test), browserOf(test)]

async function contextOf(t: ExecutionContext, browser: () => Browser): Promise<BrowserContext> {
  const context = await browser().newContext()
  t.teardown(() => context.close())
  return context
}

test.serial('browserOf(): modules of a process share one browser, with separate contexts', async (t) => {
  const [one, another] = [await contextOf(t, ofOneModule), await contextOf(t, ofAnother)]
  t.true(one.browser() === another.browser())
  await one.addCookies([{ name: 'a', value: 'b', url: 'http://localhost' }])
  t.deepEqual(await another.cookies(), [])
})

test.serial('renewShared(): starts a dead browser again', async (t) => {
  const context = await contextOf(t, ofOneModule)
  const dead = context.browser()
  const session = await dead?.newBrowserCDPSession()
  const gone = new Promise((resolve) => dead?.once('disconnected', resolve))
  session?.send('Browser.crash').catch(() => undefined)
  await gone
  await renewShared()
  const page = await (await contextOf(t, ofAnother)).newPage()
  t.is(await page.evaluate('1 + 1'), 2)
})

test.serial('closeShared(): a resource that could not start is started again by the next module', async (t) => {
  await t.throwsAsync(
    shareUntilTheEnd('broken', () => Promise.reject(new Error('no memory'))),
    { message: 'no memory' },
  )
  const calls: string[] = []
  const resource = { renew: async () => void calls.push('renew'), [Symbol.asyncDispose]: async () => void calls.push('end') }
  t.is(await shareUntilTheEnd('broken', async () => resource), resource)
  await renewShared()
  await closeShared()
  t.deepEqual(calls, ['renew', 'end'])
})
