/** The command that prints a sign-in link on the machine of the service. */
import { commandName } from '#config/own-files.ts'
import { startPage } from '#core/people/sign-in/login-link.ts'
import type { PageTexts } from '../texts/texts-for.ts'
import { html, type Html } from './html.ts'

interface LinkCommand {
  /** The address to sign in with, if known. */
  readonly email?: string | undefined
  /** The page after the sign-in. */
  readonly next: string
  /** The service can send its own mail. */
  readonly isMailed: boolean
}

/** The text is the same whether the address has an account or not. */
export function operatorCommand({ signIn: said }: PageTexts, { email = '', next, isMailed }: LinkCommand): Html {
  const address = email === '' ? 'name@example.org' : email
  const command = `${commandName} login-link ${shellWord(address)}${next === startPage ? '' : ` --next ${shellWord(next)}`}`
  return html`<section class="command" aria-labelledby="command-title">
    <p class="fine" id="command-title">${isMailed ? said.byCommand : said.onlyByCommand}</p>
    <div class="record">
      <code tabindex="0">${command}</code>
      <button type="button" class="quiet" data-copy="${command}" data-done="${said.copied}" title="${said.copy}" hidden>
        <svg viewBox="0 0 16 16" fill="none" stroke="currentColor" stroke-width="1.5" aria-hidden="true" focusable="false">
          <path d="M5.5 5.5h8v8h-8zM3 10.5h-.5v-8h8V3" />
        </svg>
        <span class="hidden">${said.copy}</span><span class="hidden" role="status"></span>
      </button>
    </div>
  </section>`
}

/** Quotes text that a shell would not read as one word. */
const shellWord = (text: string): string => (/^[\w@%+:,./=-]+$/.test(text) ? text : `'${text.replaceAll("'", String.raw`'\''`)}'`)
