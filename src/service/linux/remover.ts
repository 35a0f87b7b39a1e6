import { join } from 'node:path';
import { serviceName, staging } from '../names.ts';
import { manifestName } from '../package.ts';
import { fromRoot, type Places } from './places.ts';

/**
 * `remove.sh`, which stands outside of all versions. An uninstallation that was cut off may have taken the program already, as
 * what goes last but one: then all that is left to do is done here.
 */
export function removerScript(places: Places): string {
  const home = fromRoot(places, places.home);
  const program = fromRoot(places, join(places.current, serviceName));
  return `#!/bin/sh
if [ -x ${program} ]; then
  exec ${program} service uninstall "$@"
fi
rm -rf ${home}/versions/${staging}
for manifest in ${home}/versions/*/${manifestName}; do
  version=\${manifest%/*}
  if [ -e "$manifest" ] && [ ! -e "$version/${serviceName}" ]; then rm -rf "$version"; fi
done
rm -f ${home}/current ${home}/installed.json ${home}/remove.sh
rmdir ${home}/versions ${home} 2>/dev/null
exit 0
`;
}
