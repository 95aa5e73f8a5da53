import { expect, test } from "vitest"
import { withModuleNames } from "./workspace-resource.ts"

test.each([
  { module: "root", shown: "root", address: "null_resource.web[0]", as: "null_resource.web[0]" },
  { module: "module.data", shown: "data", address: "module.data.aws_vpc.main", as: "data.aws_vpc.main" },
  {
    module: 'module.a["module.x"].module.b[0]',
    shown: 'a["module.x"].b[0]',
    address: 'module.a["module.x"].module.b[0].aws_vpc.main["module.y"]',
    as: 'a["module.x"].b[0].aws_vpc.main["module.y"]',
  },
  {
    module: 'module.a["\\"].module.x"]',
    shown: 'a["\\"].module.x"]',
    address: 'module.a["\\"].module.x"].aws_vpc.main',
    as: 'a["\\"].module.x"].aws_vpc.main',
  },
  { module: "module.module.module.x", shown: "module.x", address: "module.module.module.x.t.n", as: "module.x.t.n" },
  { module: "odd", shown: "odd", address: "odd.t.n", as: "odd.t.n" },
])("[F-W14] a resource of $module shows only the names of its modules", ({ module, shown, address, as }) => {
  expect(withModuleNames({ module, address })).toEqual({ module: shown, address: as })
})
