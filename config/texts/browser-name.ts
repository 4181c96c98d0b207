/** Names a browser and its operating system by its User-Agent (RFC 9110 §10.1.5), as people know them. */

const browserNames: readonly (readonly [RegExp, string])[] = [
  [/\bEdg/, 'Edge'],
  [/\bOPR\//, 'Opera'],
  [/\bFirefox\//, 'Firefox'],
  [/\b(?:Headless)?Chrom(?:e|ium)\//, 'Chrome'],
  [/\bSafari\//, 'Safari'],
]
const systemNames: readonly (readonly [RegExp, string])[] = [
  [/\biPhone\b/, 'iPhone'],
  [/\biPad\b/, 'iPad'],
  [/\bAndroid\b/, 'Android'],
  [/\bWindows\b/, 'Windows'],
  [/\bMac OS X\b/, 'macOS'],
  [/\bLinux\b/, 'Linux'],
]

export interface BrowserName {
  /** Undefined for unknown browsers and other programs. */
  readonly browser: string | undefined
  readonly system: string | undefined
}

export function browserName(userAgent: string): BrowserName {
  const named = (names: typeof browserNames): string | undefined => names.find(([pattern]) => pattern.test(userAgent))?.[1]
  return { browser: named(browserNames), system: named(systemNames) }
}

/** Returns the English name of a browser for lists, such as `Firefox on Linux`. */
export function browserTitle(userAgent: string): string {
  const { browser, system } = browserName(userAgent)
  return browser === undefined ? 'Another browser' : system === undefined ? browser : `${browser} on ${system}`
}
