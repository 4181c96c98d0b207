/** An OAuth client as a program on the user's machine: it waits for its callback, and the browser shows its arrival. */
import { createServer } from 'node:http'
import type { ExecutionContext } from 'ava'
import type { Page } from './browser.ts'
import { listenIn } from './listen.ts'

/** Starts the client; returns its redirect URI. */
export async function startApplication(t: ExecutionContext): Promise<string> {
  const server = createServer((_, response) => response.setHeader('content-type', 'text/html').end('<title>Welcome back</title>'))
  return `http://127.0.0.1:${await listenIn(t, server)}/callback`
}

/** Presses a button that redirects to the client; returns the callback address. */
export async function leave(page: Page, button: string): Promise<string> {
  await Promise.all([page.waitForURL(/\/callback\?/), page.click(button)])
  return page.url()
}
