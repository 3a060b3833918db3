//! The PTX of a batch of forms: one kernel each, which applies the form to one list of
//! operands in every thread. Operands and results are 8 bytes apart in memory.

use std::fmt::Write;

use crate::form::{Form, Needs, Ty};

/// Threads in a block of such a kernel: whole warps, and more than one.
pub(crate) const BLOCK: usize = 128;

/// Kernels `k0`, `k1`, ... for the forms, which have the same needs.
pub(crate) fn text(forms: &[&Form]) -> String {
    let (ptx, sm): Needs = forms.first().map_or((78, 80), |form| form.needs);
    let mut text = format!(
        ".version {}.{}\n.target sm_{sm}\n.address_size 64\n",
        ptx / 10,
        ptx % 10
    );
    for (i, form) in forms.iter().enumerate() {
        kernel(&mut text, i, form).expect("a String takes everything");
    }
    text
}

fn kernel(text: &mut String, index: usize, form: &Form) -> std::fmt::Result {
    writeln!(text, "\n// {}", form.name)?;
    writeln!(
        text,
        ".visible .entry k{index}(.param .u64 in, .param .u64 out, .param .u32 count)\n{{\n\
         \x20   .reg .pred %outside;\n    .reg .b32 %index, %n;\n    .reg .b64 %in, %out;"
    )?;
    for (i, ty) in form.inputs.iter().enumerate() {
        writeln!(text, "    .reg .{} %a{i};", ty.register())?;
    }
    for (i, ty) in form.outputs.iter().enumerate() {
        writeln!(text, "    .reg .{} %d{i};", ty.register())?;
    }
    writeln!(
        text,
        "    mov.u32 %index, %ctaid.x;\n    mov.u32 %n, %tid.x;\n\
         \x20   mad.lo.u32 %index, %index, {BLOCK}, %n;\n    ld.param.u32 %n, [count];\n\
         \x20   setp.ge.u32 %outside, %index, %n;\n    @%outside ret;\n\
         \x20   ld.param.u64 %in, [in];\n    cvta.to.global.u64 %in, %in;\n\
         \x20   mad.wide.u32 %in, %index, {}, %in;\n\
         \x20   ld.param.u64 %out, [out];\n    cvta.to.global.u64 %out, %out;\n\
         \x20   mad.wide.u32 %out, %index, {}, %out;",
        8 * form.inputs.len(),
        8 * form.outputs.len(),
    )?;
    for (i, ty) in form.inputs.iter().enumerate() {
        match ty {
            Ty::Pred => writeln!(
                text,
                "    ld.global.u32 %n, [%in+{}];\n    setp.ne.u32 %a{i}, %n, 0;",
                8 * i
            )?,
            _ => writeln!(
                text,
                "    ld.global.{} %a{i}, [%in+{}];",
                ty.register(),
                8 * i
            )?,
        }
    }
    // A scope of its own, so that a body may declare what it needs.
    writeln!(text, "    {{\n        {}\n    }}", form.body)?;
    for (i, ty) in form.outputs.iter().enumerate() {
        match ty {
            Ty::Pred => writeln!(
                text,
                "    selp.u32 %n, 1, 0, %d{i};\n    st.global.u32 [%out+{}], %n;",
                8 * i
            )?,
            _ => writeln!(
                text,
                "    st.global.{} [%out+{}], %d{i};",
                ty.register(),
                8 * i
            )?,
        }
    }
    writeln!(text, "    ret;\n}}")
}
