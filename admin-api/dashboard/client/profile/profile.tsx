/** Who one is here: the address, the own roles, what this browser keeps, and the way to passkeys and sessions. */
import type { JSX } from 'preact'
import { boot } from '../app/boot.ts'
import { link, organizations } from '../app/location.ts'
import { mayRead } from '../app/permissions.ts'
import { plain, SafeText } from '../parts/safe-text.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { Preferences } from '../shell/preferences.tsx'
import { words as allWords } from '../words/words.ts'
import { words } from './profile-words.ts'

export default function Profile(): JSX.Element {
  const w = words()
  return (
    <>
      <TopBar title={allWords().profile}>
        <form method="post" action="/sign-out">
          <input type="hidden" name="csrf" value={boot.csrfToken} />
          <button class="button">{allWords().signOut}</button>
        </form>
      </TopBar>
      <div class="sheet">
        <div class="say">
          <h2>{w.say(plain(boot.email))}</h2>
          <p>{w.sayText}</p>
        </div>
        <section aria-labelledby="profile-account">
          <div class="head">
            <h2 id="profile-account">{w.account}</h2>
          </div>
          <div class="profile-part">
            <p class="soft">{w.accountText}</p>
            <a class="button" href="/account">
              {w.accountLink}
            </a>
            <p class="soft">{w.applicationsText}</p>
            <a class="button" href="/account/applications">
              {w.applicationsLink}
            </a>
          </div>
        </section>
        <section aria-labelledby="profile-roles">
          <div class="head">
            <h2 id="profile-roles">{w.roles}</h2>
          </div>
          <div class="profile-part">
            <dl class="facts">
              {organizations.value.map(({ id, name, role }) => (
                <>
                  <dt key={id}>
                    <SafeText text={name} />
                  </dt>
                  <dd>{role}</dd>
                </>
              ))}
            </dl>
            <a class="button" href={mayRead.value ? link('/orgs') : '/organizations'}>
              {w.manage}
            </a>
          </div>
        </section>
        <section aria-labelledby="profile-browser">
          <div class="head">
            <h2 id="profile-browser">{w.browser}</h2>
          </div>
          <div class="profile-part">
            <p class="soft">{w.browserText}</p>
            <Preferences />
          </div>
        </section>
      </div>
    </>
  )
}
