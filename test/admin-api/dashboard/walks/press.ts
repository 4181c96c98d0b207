/** Presses all controls of a screen, and fills in and submits each form that opens. */
import type { Page } from '../../../support/web/browser.ts'
import { settled, show, type Place } from './screen-walk.ts'

/** Reached state: the screen after a press, a dialog, or a dialog after its submission. */
export type Reached = 'press' | 'dialog' | 'sent'

/** All controls except the API call, which is the same on every screen, and the sign-out. */
const controls = 'main button:not([title="This screen as an API call"], [action="/sign-out"] button):visible'

/** Returns the part of a label that is equal for all rows. */
const sameIn = (label: string): string => label.split(/[:\s]/)[0] ?? ''

/** Calls `onReached` after each step. */
export async function pressAll(page: Page, { path }: Place, onReached: (what: Reached, label: string) => Promise<void>): Promise<void> {
  await fillIn(page, 'its address', onReached)
  const pressed = new Set<string>()
  for (let i = 0; i < (await page.locator(controls).count()); i++) {
    const control = page.locator(controls).nth(i)
    const label = (await control.getAttribute('aria-label')) ?? (await control.innerText())
    const isTab = (await control.getAttribute('role')) === 'tab'
    const name = isTab ? label : sameIn(label)
    if (pressed.has(name)) continue
    pressed.add(name)
    if ((await control.getAttribute('aria-haspopup')) === 'menu') {
      await pressEntries(page, path, control, onReached)
      continue
    }
    await control.click({ timeout: 2000 }).catch(() => undefined)
    await settled(page)
    if (!(await fillIn(page, label, onReached)) && isTab) await onReached('press', label)
    if (new URL(page.url()).pathname !== new URL(path, page.url()).pathname) await show(page, path)
  }
}

/** Opens the menu of a row and presses each of its entries. */
async function pressEntries(
  page: Page,
  path: string,
  button: ReturnType<Page['locator']>,
  onReached: (what: Reached, label: string) => Promise<void>,
): Promise<void> {
  const entries = page.locator('[role="menu"]:visible [role="menuitem"]')
  for (let at = 0; at === 0 || at < (await entries.count()); at++) {
    await button.click({ timeout: 2000 }).catch(() => undefined)
    if ((await entries.count()) <= at) return
    const entry = entries.nth(at)
    const label = await entry.innerText()
    await entry.click({ timeout: 2000 }).catch(() => undefined)
    await settled(page)
    await fillIn(page, label, onReached)
    await show(page, path)
  }
}

/** Checks and submits the open dialog. Returns false if no dialog is open. */
async function fillIn(page: Page, label: string, onReached: (what: Reached, label: string) => Promise<void>): Promise<boolean> {
  if ((await page.locator('dialog[open]').count()) === 0) return false
  await onReached('dialog', label)
  if (await sendForm(page)) await onReached('sent', label)
  await closeDialog(page)
  return true
}

/** Fills in the form of the dialog and presses its last button. Returns false without a form. */
async function sendForm(page: Page): Promise<boolean> {
  const form = page.locator('dialog[open] form')
  if ((await form.count()) === 0) return false
  for (const field of await form.locator('input:visible, textarea:visible').all()) {
    const type = (await field.getAttribute('type')) ?? 'text'
    if (type === 'checkbox' || type === 'radio' || (await field.inputValue()) !== '') continue
    const label = await field.evaluate((one) => (one as unknown as { labels?: { textContent: string }[] }).labels?.[0]?.textContent ?? '')
    await field.fill(valueFor(type, label), { timeout: 2000 }).catch(() => undefined)
  }
  const submit = form.locator('footer button').last()
  if ((await submit.count()) === 0) return false
  await submit.click({ timeout: 2000 }).catch(() => undefined)
  await page.waitForSelector('dialog[open] [role=alert]', { timeout: 1000 }).catch(() => undefined)
  return (await page.locator('dialog[open]').count()) > 0
}

function valueFor(type: string, label: string): string {
  const [, named] = /^Type ([^]+) to confirm$/.exec(label) ?? []
  if (named !== undefined) return named
  if (type === 'number') return '5'
  if (type === 'url') return 'https://example.org/'
  return type === 'email' ? 'x@example.org' : 'x'
}

/** Closes all dialogs by Escape. Fails if one stays open. */
async function closeDialog(page: Page): Promise<void> {
  for (let i = 0; i < 3 && (await page.locator('dialog[open]').count()) > 0; i++) await page.keyboard.press('Escape')
  await page.waitForSelector('dialog[open]', { state: 'detached' })
}
