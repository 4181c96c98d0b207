/** An OAuth client as a program on the machine of the person: it waits for its answer, and the browser shows that it came. */
import { createServer } from 'node:http'
import type { ExecutionContext } from 'ava'
import type { Page } from './browser.ts'
import { listenIn } from './listen.ts'

/** Starts it, and returns its redirect URI. */
export async function startApplication(t: ExecutionContext): Promise<string> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<title>Welcome back</title>'))
  return `http://127.0.0.1:${await listenIn(t, server)}/callback`
}

/** Presses a button that leads back to it, and returns where it was called. */
export async function leave(page: Page, button: string): Promise<string> {
  await Promise.all([page.waitForURL(/\/callback\?/), page.click(button)])
  return page.url()
}
