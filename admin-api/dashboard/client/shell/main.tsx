/** Entry point of the dashboard: frame, current screen and global shortcuts. */
import { computed, effect } from '@preact/signals'
import { render, type ComponentType, type JSX } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import '../style/style.css'
import { Dialog } from '../parts/controls.tsx'
import { Mark } from '../parts/mark.tsx'
import { Loading, State } from '../parts/states.tsx'
import { shortTime } from '../parts/time.ts'
import { hasUndo, Toasts, undoLast } from '../parts/toast.tsx'
import { TopBar } from '../parts/top-bar.tsx'
import { speak, withTexts } from '../texts/catalog.ts'
import { texts } from '../texts/shell-texts.ts'
import { boot } from '../app/boot.ts'
import { awaySince, shownCall } from '../app/api.ts'
import { isTyping, listenToKeys, pressedFor, useKeys } from '../app/keys.ts'
import { followChanges } from '../app/live.ts'
import { followLinks, go, link, organization, organizations, path } from '../app/location.ts'
import { showCutText } from './cut-text.ts'
import { BottomBar, Navigation } from './navigation.tsx'
import { NoChannel } from './no-channel.tsx'
import { badges, isPaletteOpen } from '../app/open.ts'
import { Palette } from './palette.tsx'
import { Waiting } from './waiting.tsx'
import { mayRead } from '../app/permissions.ts'
import { followProjects } from '../app/projects.ts'
import type { ScreenProps } from '../app/screen-props.ts'
import { beginningOf, mayOpen, screenAt, screens, type Screen } from './screens.ts'
import { followTheme, preferredLanguage, rail, setRail } from '../app/settings.ts'

const loaded = new Map<Screen, ComponentType<ScreenProps>>()

function CurrentScreen(): JSX.Element {
  const screen = screenAt(path.value)
  const [, setTurn] = useState(0)
  const [failed, setFailed] = useState<Screen>()
  const Shown = screen && loaded.get(screen)
  useEffect(() => {
    if (!screen || loaded.has(screen)) return
    withTexts(screen.load()).then(
      ({ default: component }) => {
        loaded.set(screen, component)
        setTurn((turn) => turn + 1)
      },
      () => setFailed(screen),
    )
  }, [screen])
  const rest = path.value.split('/').slice(2).filter(Boolean).map(decodeURIComponent)
  if (Shown) return <Shown key={`${organization.value?.id ?? ''} ${screen.name}`} rest={rest} />
  const w = texts()
  return (
    <>
      <TopBar title={screen?.label(w) ?? w.nothingHere} />
      <div class="sheet">
        {screen && failed !== screen ? (
          <Loading />
        ) : (
          <State title={screen ? w.notLoaded : w.nothingHere} text={screen ? w.notLoadedText : undefined}>
            <div class="actions">
              <button class="button primary" onClick={() => location.reload()}>
                {w.loadAgain}
              </button>
            </div>
          </State>
        )}
      </div>
    </>
  )
}

/**
 * Shown to users without an organization, without membership in the requested one, or without read access. Links to a screen that they can
 * use.
 */
function Outside(): JSX.Element {
  const w = texts()
  const [title, text, href, label] = organization.value
    ? [w.billingOnly, w.billingOnlyText, link('/usage'), w.usage]
    : organizations.value.length > 0
      ? [w.notOfOrganization, w.notOfOrganizationText, '/', w.ownOrganization]
      : [w.noOrganization, w.noOrganizationText, '/organizations', w.organizations]
  return (
    <>
      <TopBar title="Postern" />
      <div class="sheet">
        <State title={title} text={text}>
          <div class="actions">
            <a class="button primary" href={href}>
              {label}
            </a>
          </div>
        </State>
      </div>
    </>
  )
}

/** Clears badges when the organization changes, and the API call when the screen changes. */
function forgetWithPlace(): void {
  effect(() => {
    if (organization.value !== undefined) badges.value = {}
  })
  const place = computed(() => `${organization.value?.id ?? ''} ${screenAt(path.value)?.name ?? ''}`)
  effect(() => {
    if (place.value !== '') shownCall.value = undefined
  })
}

function Shell(): JSX.Element {
  const w = texts()
  const [showsKeys, setShowsKeys] = useState(false)
  const isNarrow = useNarrow()
  useKeys(
    {
      'mod+k': () => void (isPaletteOpen.value = true),
      '?': () => setShowsKeys(true),
      '\\': () => setRail(!rail.value),
      ...Object.fromEntries(
        (boot.email === '' ? [] : screens).map((screen) => [`g ${screen.key}`, () => mayOpen(screen) && go(link(beginningOf(screen)))]),
      ),
    },
    [],
  )
  useEffect(() => {
    const onKey = (event: KeyboardEvent): void => {
      if ((event.metaKey || event.ctrlKey) && event.key === 'z' && hasUndo() && !isTyping(event.target)) undoLast()
    }
    document.addEventListener('keydown', onKey)
    return () => document.removeEventListener('keydown', onKey)
  }, [])
  const screen = screenAt(path.value)
  if (!boot.email)
    return (
      <div class="shell open">
        <main class="page">
          <CurrentScreen />
        </main>
        <Toasts />
      </div>
    )
  const isOfOne = screen !== undefined && path.value !== `/${screen.name}`
  const isWorkbench =
    screen?.name === 'captures' || screen?.name === 'submissions' || ((screen?.name === 'templates' || screen?.name === 'forms') && isOfOne)
  const isShown = screen ? mayOpen(screen) : mayRead.value
  return (
    <div class={isNarrow || rail.value !== isWorkbench ? 'shell rail' : 'shell'}>
      <a class="skip" href="#content">
        {w.skip}
      </a>
      <Navigation />
      {organization.value && mayRead.value && <Waiting key={organization.value.id} />}
      <main class="page" id="content" tabIndex={-1}>
        <Away />
        {organization.value && mayRead.value && <NoChannel key={organization.value.id} />}
        {isShown ? <CurrentScreen /> : <Outside />}
      </main>
      <BottomBar />
      {isPaletteOpen.value && <Palette />}
      {showsKeys && <KeySheet onClose={() => setShowsKeys(false)} />}
      <Toasts />
    </div>
  )
}

/** Notice above the screen while the service is unreachable. */
const Away = (): JSX.Element => (
  <div role="status" class="away">
    {awaySince.value !== undefined && (
      <p class="note warn">
        <Mark name="warning" />
        <span>{texts().away({ time: shortTime(awaySince.value) })}</span>
      </p>
    )}
  </div>
)

/** Whether the navigation is a narrow rail: on widths between phone and desktop. */
function useNarrow(): boolean {
  const [list] = useState(() => matchMedia('(min-width: 641px) and (max-width: 1180px)'))
  const [matches, setMatches] = useState(list.matches)
  useEffect(() => {
    const follow = (): void => setMatches(list.matches)
    follow()
    list.addEventListener('change', follow)
    return () => list.removeEventListener('change', follow)
  }, [])
  return matches
}

function KeySheet({ onClose }: { readonly onClose: () => void }): JSX.Element {
  const w = texts()
  const rows = [
    ['⌘K / Ctrl K', w.searchOrJump],
    [pressedFor('/'), w.keySearch],
    [`${pressedFor('j')} ${pressedFor('k')}`, w.keyMove],
    [pressedFor('x'), w.chooseRow],
    ['Enter', w.keyOpen],
    ['Esc', w.keyBack],
    [`${pressedFor('[')} ${pressedFor(']')}`, w.keyNeighbours],
    [pressedFor('\\'), w.keyRail],
    ...screens.filter(mayOpen).map(({ key, label }) => [`${pressedFor('g')} ${key}`, label(w)] as const),
  ]
  return (
    <Dialog title={w.keys} onClose={onClose}>
      <div>
        <h2>{w.keys}</h2>
        <dl class="facts all-keys">
          {rows.map(([keys, does]) => (
            <>
              <dt>
                <kbd>{keys}</kbd>
              </dt>
              <dd>{does}</dd>
            </>
          ))}
        </dl>
        <footer>
          <button class="button" onClick={onClose}>
            {w.close}
          </button>
        </footer>
      </div>
    </Dialog>
  )
}

async function begin(root: HTMLElement): Promise<void> {
  followTheme()
  followLinks((path) => {
    const screen = screenAt(path)
    return screen !== undefined && path.startsWith(screen.at ?? '/') && (boot.email !== '' || screen.isOpen === true)
  })
  listenToKeys()
  showCutText()
  followProjects()
  followChanges()
  forgetWithPlace()
  await speak(preferredLanguage()).catch(() => undefined) // falls back to English
  root.textContent = ''
  render(<Shell />, root)
}

const root = document.getElementById('app')
if (root) void begin(root)
